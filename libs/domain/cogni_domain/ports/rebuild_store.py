"""Where rebuilds stand, and the pointer that says which index serves."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Protocol, TypeAlias

from cogni_domain.jobs import Job
from cogni_domain.knowledge.corpus import Corpus
from cogni_domain.knowledge.rebuild import Rebuild
from cogni_kernel import CorpusId, DocumentId, Result, TenantId

JobsOfRebuild: TypeAlias = Callable[[Rebuild, Rebuild | None], Sequence[Job]]
"""Makes the jobs of a rebuild that begins or goes on; the second is the one that it releases."""


class RebuildStorePort(Protocol):
    """Implementations must pass `contracts.rebuild_store.RebuildStoreContract`.

    Every write is conditional and one transaction with its jobs: of many that try, one changes something.
    """

    async def begin(
        self, corpus: Corpus, embedder_version: str, now: datetime, jobs_of: JobsOfRebuild
    ) -> Result[Rebuild]:
        """Begin a rebuild, or return the one with this model that is not cut over yet.

        One with another model, or cut over before, is released. A generation is never used twice. The jobs
        are added in both cases, unless they wait already.
        """
        ...

    async def under_way(self, tenant: TenantId, corpus: CorpusId) -> Result[Rebuild | None]:
        """Return the corpus's rebuild that is not released, if there is one."""
        ...

    async def documents(
        self, tenant: TenantId, corpus: CorpusId, after: str, limit: int
    ) -> Result[Sequence[DocumentId]]:
        """Return documents, attached ones too, in the order of id, which no move changes."""
        ...

    async def advance(
        self, rebuild: Rebuild, written: Sequence[DocumentId], now: datetime, jobs: Sequence[Job]
    ) -> Result[bool]:
        """Count the batch of `rebuild.step` and add what follows; with no job the shadow is ready.

        False, and nothing is written, where that step was counted before or the rebuild is past filling.
        """
        ...

    async def cut_over(self, rebuild: Rebuild, now: datetime) -> Result[bool]:
        """Let the shadow serve; False where it is not ready, or serves already."""
        ...

    async def roll_back(self, rebuild: Rebuild, now: datetime) -> Result[bool]:
        """Let the previous index serve again, the shadow ready as before; False where the shadow does not serve."""
        ...
