"""Index jobs while a rebuild is under way: both indexes are written, from its first moment until it is released."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from cogni_application.indexing.index import OTHER_MODEL, IndexWriter
from cogni_application.indexing.standing import documents_of
from cogni_application.lanes import Handler
from cogni_application.rebuild.rebuild import corpus_of
from cogni_domain.jobs import LeasedJob
from cogni_domain.knowledge.corpus import Corpus
from cogni_domain.knowledge.rebuild import Rebuild
from cogni_domain.ports.rebuild_store import RebuildStorePort
from cogni_kernel import ConflictError, CorpusId, DocumentId, Err, Ok, Result, TenantId

_Place: TypeAlias = tuple[TenantId, CorpusId]
_Work: TypeAlias = Callable[[Rebuild, Corpus, Sequence[DocumentId]], Awaitable[Result[None]]]


@dataclass(frozen=True, slots=True)
class DualWriter:
    """Does what `IndexWriter` does; where a rebuild is under way, to both of its indexes.

    Which index serves is not asked then, so a cutover in the middle of a job loses nothing. A job that sees no
    rebuild is about what the database knew before one began, and that the rebuild reads itself.

    Attributes:
        writers: One a model, by the embedder's version; all write the same stores.

    Source:
        COGNI.BUILD spec, package services, "RebuildService".
    """

    rebuilds: RebuildStorePort
    writer: IndexWriter
    writers: dict[str, IndexWriter]

    async def index(self, jobs: Sequence[LeasedJob]) -> Sequence[Result[None]]:
        """Embed and write passages; an index whose model is not bound here is left as it is."""
        return await self._each(jobs, self.writer.index, self._index)

    async def relabel(self, jobs: Sequence[LeasedJob]) -> Sequence[Result[None]]:
        """Bring readers up to date, without embedding."""
        return await self._each(jobs, self.writer.relabel, self._follow)

    async def remove(self, jobs: Sequence[LeasedJob]) -> Sequence[Result[None]]:
        """Take the passages of deleted documents out."""
        return await self._each(jobs, self.writer.remove, self._follow)

    async def _index(
        self, rebuild: Rebuild, corpus: Corpus, documents: Sequence[DocumentId]
    ) -> Result[None]:
        every = _targets(rebuild, corpus)
        bound = [target for target in every if target.embedder_version in self.writers]
        if not bound:
            return Err(ConflictError(OTHER_MODEL))
        for target in bound:
            done = await self.writers[target.embedder_version].index_now(target, documents)
            if isinstance(done, Err):
                return done
        return Ok(None)

    async def _follow(
        self, rebuild: Rebuild, corpus: Corpus, documents: Sequence[DocumentId]
    ) -> Result[None]:
        for target in _targets(rebuild, corpus):
            done = await self.writer.relabel_now(target, documents)
            if isinstance(done, Err):
                return done
        return Ok(None)

    async def _each(
        self, jobs: Sequence[LeasedJob], alone: Handler, both: _Work
    ) -> Sequence[Result[None]]:
        """Do the jobs of each corpus in the way that it needs now; one result a job, in order."""
        results: dict[str, Result[None]] = {}
        for place, mine in _by_corpus(jobs).items():
            found = await self.rebuilds.under_way(*place)
            if isinstance(found, Err):
                done: Sequence[Result[None]] = [found] * len(mine)
            elif found.value is None:
                done = await alone(mine)
            else:
                done = await self._together(found.value, mine, both)
            results |= {leased.id: result for leased, result in zip(mine, done, strict=True)}
        return [results[leased.id] for leased in jobs]

    async def _together(
        self, rebuild: Rebuild, jobs: Sequence[LeasedJob], both: _Work
    ) -> Sequence[Result[None]]:
        """Do jobs of one corpus together; where that fails, each by itself."""
        corpus = await corpus_of(self.writer.documents, rebuild.tenant_id, rebuild.corpus_id)
        if isinstance(corpus, Err):
            return [corpus] * len(jobs)
        every = dict.fromkeys(d for leased in jobs for d in documents_of(leased.job))
        together = await both(rebuild, corpus.value, list(every))
        if isinstance(together, Ok) or len(jobs) == 1:
            return [together] * len(jobs)
        return [await both(rebuild, corpus.value, documents_of(leased.job)) for leased in jobs]


def _targets(rebuild: Rebuild, corpus: Corpus) -> list[Corpus]:
    return [rebuild.target(g, corpus) for g in (rebuild.previous, rebuild.generation)]


def _by_corpus(jobs: Sequence[LeasedJob]) -> dict[_Place, list[LeasedJob]]:
    found: dict[_Place, list[LeasedJob]] = {}
    for leased in jobs:
        place = (leased.job.tenant_id, CorpusId(leased.job.payload["corpus_id"]))
        found.setdefault(place, []).append(leased)
    return found
