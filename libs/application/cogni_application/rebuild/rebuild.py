"""A new index for a corpus, while the old one serves: begun, filled, judged, cut over, and taken back if need be."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from cogni_domain.jobs import Job
from cogni_domain.knowledge.corpus import Corpus
from cogni_domain.knowledge.rebuild import Rebuild, RebuildState
from cogni_domain.ports.document_store import DocumentStorePort
from cogni_domain.ports.rebuild_store import RebuildStorePort
from cogni_engine import Clock
from cogni_kernel import (
    ConflictError,
    CorpusId,
    DocumentId,
    Err,
    HumanText,
    NotFoundError,
    Ok,
    Result,
    TenantId,
)

FILL = "rebuild.fill"
PURGE = "rebuild.purge"

NO_CORPUS = HumanText("There is no such corpus.")
NO_REBUILD = HumanText("No rebuild of this corpus is under way.")
NOT_READY = HumanText("The new index is not ready to serve, or serves already.")
NOT_SERVING = HumanText("The new index does not serve, so there is nothing to take back.")
MODEL_GONE = HumanText("The former index was made with a model that is not bound any more.")


@dataclass(frozen=True, slots=True)
class Approved:
    """The new index may serve."""


@dataclass(frozen=True, slots=True)
class Blocked:
    """The new index must not serve.

    Attributes:
        comparison: What is worse than before, a line each.
    """

    comparison: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Cutover:
    """The new index serves; the former one is kept until the next rebuild."""

    rebuild: Rebuild


Judgement: TypeAlias = Approved | Blocked


class CutoverGate(Protocol):
    """Compares two indexes of one corpus on a frozen slice of cases, and can say NO."""

    async def judge(self, before: Corpus, after: Corpus) -> Result[Judgement]:
        """Ask both the same; `before` serves, `after` is the shadow.

        Errors:
            UpstreamError, …: It could not be asked; then nothing is cut over.
        """
        ...


@dataclass(frozen=True, slots=True)
class RebuildService:
    """Begins rebuilds, tells how far they are, and moves the pointer.

    Every step is idempotent, so whoever was killed at one of them begins it again.

    Attributes:
        models: The versions of the embedders that can be searched with here.
        embedder_version: The model that new indexes are made with.

    Source:
        COGNI.BUILD spec, package services, "RebuildService"; DESIGN D9; docs/adr/0033-rebuilds.md.
    """

    rebuilds: RebuildStorePort
    documents: DocumentStorePort
    clock: Clock
    embedder_version: str
    models: frozenset[str]

    async def rebuild(self, tenant: TenantId, corpus: CorpusId) -> Result[Rebuild]:
        """Begin a rebuild with the model bound now, or go on with the one under way.

        From now on every index job writes both indexes. A rebuild that was cut over before is released: the
        index that does not serve is emptied.

        Errors:
            NotFoundError: There is no such corpus.
        """
        found = await self._corpus(tenant, corpus)
        if isinstance(found, Err):
            return found
        now = self.clock.now()
        return await self.rebuilds.begin(found.value, self.embedder_version, now, _first_jobs)

    async def under_way(self, tenant: TenantId, corpus: CorpusId) -> Result[Rebuild]:
        """Return how far a rebuild is.

        Errors:
            NotFoundError: None is under way.
        """
        found = await self.rebuilds.under_way(tenant, corpus)
        if isinstance(found, Err):
            return found
        return Err(NotFoundError(NO_REBUILD)) if found.value is None else Ok(found.value)

    async def cut_over(
        self, tenant: TenantId, corpus: CorpusId, gate: CutoverGate
    ) -> Result[Cutover | Blocked]:
        """Let the new index serve, where the gate lets it; of many who try, one does.

        Errors:
            NotFoundError: There is no such corpus, or no rebuild of it.
            ConflictError: It is not ready, or serves already.
        """
        found = await self._ready(tenant, corpus)
        if isinstance(found, Err):
            return found
        serving, rebuild = found.value
        judged = await gate.judge(serving, rebuild.target(rebuild.generation, serving))
        if isinstance(judged, Err):
            return judged
        if isinstance(judged.value, Blocked):
            return Ok(judged.value)
        moved = await self.rebuilds.cut_over(rebuild, self.clock.now())
        if isinstance(moved, Err):
            return moved
        return Ok(Cutover(rebuild)) if moved.value else Err(ConflictError(NOT_READY))

    async def _ready(self, tenant: TenantId, corpus: CorpusId) -> Result[tuple[Corpus, Rebuild]]:
        """Return the corpus as it is served, and the rebuild of it that is ready."""
        found = await self._corpus(tenant, corpus)
        if isinstance(found, Err):
            return found
        rebuild = await self.under_way(tenant, corpus)
        if isinstance(rebuild, Err):
            return rebuild
        if rebuild.value.state is not RebuildState.READY:
            return Err(ConflictError(NOT_READY))
        return Ok((found.value, rebuild.value))

    async def roll_back(self, tenant: TenantId, corpus: CorpusId) -> Result[Rebuild]:
        """Let the former index serve again; it was written all the while.

        Errors:
            NotFoundError: No rebuild is under way.
            ConflictError: The new index does not serve, or the former one's model is not bound here.
        """
        found = await self.under_way(tenant, corpus)
        if isinstance(found, Err):
            return found
        if found.value.previous_embedder not in self.models:
            return Err(ConflictError(MODEL_GONE))
        moved = await self.rebuilds.roll_back(found.value, self.clock.now())
        if isinstance(moved, Err):
            return moved
        return Ok(found.value) if moved.value else Err(ConflictError(NOT_SERVING))

    async def _corpus(self, tenant: TenantId, corpus: CorpusId) -> Result[Corpus]:
        return await corpus_of(self.documents, tenant, corpus)


async def corpus_of(
    documents: DocumentStorePort, tenant: TenantId, corpus: CorpusId
) -> Result[Corpus]:
    """Return one corpus as it stands now."""
    every = await documents.corpora(tenant)
    if isinstance(every, Err):
        return every
    mine = next((c for c in every.value if c.id == corpus), None)
    return Ok(mine) if mine else Err(NotFoundError(NO_CORPUS))


def fill_job(rebuild: Rebuild, step: int, batch: Sequence[DocumentId]) -> Job:
    """Return the job that writes one batch; it names its documents, so that it can be done again as it was.

    Without documents it goes on after those that are done.
    """
    payload = {**_place(rebuild), "document_ids": json.dumps(list(map(str, batch)))}
    return Job(FILL, rebuild.tenant_id, f"{_name(rebuild)}@{step}", {**payload, "step": str(step)})


def _first_jobs(rebuild: Rebuild, released: Rebuild | None) -> Sequence[Job]:
    filling = rebuild.state is RebuildState.FILLING
    jobs = [fill_job(rebuild, rebuild.step, ())] if filling else []
    if released is not None:
        idle = {released.generation, released.previous} - {rebuild.previous}
        jobs += [_purge_job(released, generation) for generation in idle]
    return jobs


def _purge_job(released: Rebuild, generation: int) -> Job:
    payload: Mapping[str, str] = {**_place(released), "generation": str(generation)}
    return Job(PURGE, released.tenant_id, f"{released.corpus_id}/{generation}", payload)


def _place(rebuild: Rebuild) -> dict[str, str]:
    return {"corpus_id": str(rebuild.corpus_id), "generation": str(rebuild.generation)}


def _name(rebuild: Rebuild) -> str:
    return f"{rebuild.corpus_id}/{rebuild.generation}"
