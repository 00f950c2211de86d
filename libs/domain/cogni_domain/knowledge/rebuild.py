"""An index that is made anew beside the one that serves."""

from dataclasses import dataclass
from datetime import datetime
from enum import Enum

from cogni_domain.knowledge.corpus import Corpus, IndexId
from cogni_kernel import CorpusId, TenantId


class RebuildState(Enum):
    """How far a rebuild is; until it is released both indexes are written."""

    FILLING = "filling"
    READY = "ready"
    SERVING = "serving"
    RELEASED = "released"


@dataclass(frozen=True, slots=True)
class Rebuild:
    """One rebuild of one corpus: the shadow index, and the one that it is to follow.

    Attributes:
        generation: The shadow's.
        embedder_version: The model that writes the shadow.
        previous: The generation that served when it began; kept, and written, until the rebuild is released.
        step: How many batches are done; each is counted once, however often it is written.
        after: The last document of the batches done, in the order of ids; empty before the first.
        done: Documents written to the shadow.
        total: Documents that there were at the beginning.
        since: When it came into its state.
    """

    tenant_id: TenantId
    corpus_id: CorpusId
    generation: int
    embedder_version: str
    previous: int
    previous_embedder: str
    state: RebuildState
    step: int
    after: str
    done: int
    total: int
    started_at: datetime
    since: datetime

    def target(self, generation: int, of: Corpus) -> Corpus:
        """Return the corpus as it is where one of the two indexes serves."""
        version = self.embedder_version if generation == self.generation else self.previous_embedder
        return Corpus(
            id=of.id,
            tenant_id=of.tenant_id,
            name=of.name,
            index=IndexId(of.tenant_id, of.id, generation),
            embedder_version=version,
            indexed_through=of.indexed_through,
        )

    def projected_end(self, now: datetime) -> datetime | None:
        """Return when the shadow will be full at the pace so far; None before the first batch."""
        if not self.done:
            return None
        left = max(0, self.total - self.done)
        return now + (now - self.started_at) / self.done * left
