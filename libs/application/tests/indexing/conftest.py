"""A source that a test edits, and the indexing services of one process over memory."""

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from cogni_adapters.memory.access_rules import MemoryAccessRulesAdapter
from cogni_adapters.memory.documents import MemoryDocumentStoreAdapter
from cogni_adapters.memory.keyword_search import MemoryKeywordSearchAdapter
from cogni_adapters.memory.queue import MemoryQueueAdapter
from cogni_adapters.memory.state import MemoryState
from cogni_adapters.memory.vector_store import MemoryVectorStoreAdapter
from cogni_application.indexing.index import IndexWriter
from cogni_application.indexing.ingest import INGEST, IndexingService, Progress
from cogni_application.indexing.intake import INDEX, Intake
from cogni_application.indexing.standing import RELABEL, REMOVE
from cogni_application.lanes import LEASE, LaneWorker
from cogni_application.retrieval.retrieve import RetrievalRequest, RetrievalService
from cogni_domain.access.principal import Principal
from cogni_domain.access.rule import AccessRule, Unmappable
from cogni_domain.access.scope import ScopePolicy
from cogni_domain.jobs import Job, Lane, LeasedJob
from cogni_domain.knowledge.chunking import ChunkPolicy
from cogni_domain.knowledge.corpus import Corpus, IndexId
from cogni_domain.knowledge.extracted import (
    Attachment,
    Block,
    BlockKind,
    ExtractedDocument,
    Reason,
    Skipped,
)
from cogni_domain.knowledge.relevance import RelevancePolicy
from cogni_domain.knowledge.source import ChangeEvent, SourceDocument, SourcePage
from cogni_domain.ports.connector import ConnectorPort
from cogni_domain.ports.embedder import Vectors
from cogni_domain.ports.extractor import ExtractorPort
from cogni_kernel import CorpusId, Err, Error, HumanText, NotFoundError, Ok, Result, TenantId
from cogni_testing import START, FrozenClock, HashEmbedder, LexicalReranker, SequentialIds, ok

ACME = TenantId("acme")
CORPUS = CorpusId("handbook")
INDEX_ID = IndexId(ACME, CORPUS)


class Killed(BaseException):
    """The process ended here."""


@dataclass
class Page:
    """A document at its source. Its text holds its attachments: `Dear all <a.txt:the text of it>`."""

    text: str
    rule: AccessRule | Unmappable = field(default_factory=AccessRule.everyone)
    revision: int = 1
    missing: tuple[str, ...] = ()
    skipped: Skipped | None = None
    error: Error | None = None
    bug: bool = False


class TextExtractor(ExtractorPort):
    """Reads what `Page` says of a text; one that begins with `!` is encrypted."""

    async def extract(self, name: str, data: bytes) -> ExtractedDocument | Skipped:
        text = data.decode()
        if text.startswith("!"):
            return Skipped(Reason.ENCRYPTED, "Remove its password.")
        return extracted(name, text)


def extracted(name: str, text: str, missing: tuple[str, ...] = ()) -> ExtractedDocument:
    own, inner, depth = "", [""], 0
    for char in text:
        depth -= char == ">"
        if depth:
            inner[-1] += char
        elif char == ">":
            inner.append("")
        elif char != "<":
            own += char
        depth += char == "<"
    parts = [part.partition(":") for part in inner[:-1]]
    attachments = tuple(Attachment(file, data.encode()) for file, _, data in parts)
    paragraphs = [p.strip() for p in own.split("\n\n") if p.strip()]
    blocks = tuple(Block(BlockKind.PARAGRAPH, p, locator=str(n)) for n, p in enumerate(paragraphs))
    return ExtractedDocument(name, blocks, "text/plain", attachments, missing)


class Source(ConnectorPort):
    """Pages by id, listed a few at a time."""

    def __init__(self, id: str = "wiki", **pages: Page | str) -> None:  # noqa: A002 - the port's word
        self._id = id
        self.pages = {n: Page(p) if isinstance(p, str) else p for n, p in pages.items()}
        self.at_once = 2
        self.reads: list[str] = []
        self.between: Callable[[str], None] = lambda _: None

    @property
    def id(self) -> str:
        return self._id

    def edit(self, name: str, **changes: Any) -> None:
        """Change a page, and its revision with its content."""
        page = self.pages[name]
        if changes.keys() - {"rule"}:
            changes.setdefault("revision", page.revision + 1)
        self.pages[name] = replace(page, **changes)

    def listed(self, name: str) -> SourceDocument:
        """Return a page as it is listed now."""
        page = self.pages[name]
        revision = str(page.revision)
        return SourceDocument(
            name, name, page.rule, revision, START, f"https://wiki.example/{name}"
        )

    async def enumerate(self, cursor: str | None) -> Result[SourcePage]:
        names = [n for n in sorted(self.pages) if cursor is None or n > cursor]
        part = names[: self.at_once]
        documents = [self.listed(n) for n in part]
        return Ok(SourcePage(documents, part[-1] if len(names) > self.at_once else None))

    async def extract(self, document: SourceDocument) -> Result[ExtractedDocument | Skipped]:
        self.reads.append(document.source_id)
        self.between(document.source_id)
        page = self.pages.get(document.source_id)
        if page is None:
            return Err(NotFoundError(HumanText("It is gone.")))
        if page.bug:
            raise RuntimeError("a bug of the connector")
        if page.error is not None:
            return Err(page.error)
        return Ok(page.skipped or extracted(document.name, page.text, page.missing))

    async def changes(self) -> AsyncIterator[ChangeEvent]:
        nothing: tuple[ChangeEvent, ...] = ()
        for event in nothing:
            yield event


class CountingEmbedder(HashEmbedder):
    """Remembers what it embedded; a text that says POISON breaks it."""

    def __init__(self) -> None:
        super().__init__()
        self.embedded: list[str] = []

    async def embed(self, texts: Sequence[str]) -> Result[Vectors]:
        if any("POISON" in text for text in texts):
            raise RuntimeError("cannot be embedded")
        self.embedded.extend(texts)
        return await super().embed(texts)


class Watched:
    """A port that a test can break: end its process before a call or right after it, or answer instead of it."""

    def __init__(self, port: object, watch: Callable[[str], Any]) -> None:
        self._port = port
        self._watch = watch

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._port, name)
        if not callable(found) or name in ("listed", "edit", "changes", "hold"):
            return found

        async def call(*args: Any, **kwargs: Any) -> Any:
            instead = self._watch(f"before {name}")
            if instead is not None:
                return instead
            result = await found(*args, **kwargs)
            self._watch(f"after {name}")
            return result

        return call


class Desk:
    """The indexing services, their stores, and sources by name."""

    def __init__(self, *sources: Source) -> None:
        self.state, self.clock = MemoryState(), FrozenClock()
        self.sources = {source.id: source for source in sources}
        self.documents = MemoryDocumentStoreAdapter(self.state)
        self.queue = MemoryQueueAdapter(self.state, self.clock)
        self.keywords, self.vectors = MemoryKeywordSearchAdapter(), MemoryVectorStoreAdapter()
        self.embedder = CountingEmbedder()
        self.new_id = SequentialIds("d")
        self.watch: Callable[[str], Any] = lambda _: None
        self.progress: list[Progress] = []
        self.corpus = Corpus(CORPUS, ACME, "Handbook", INDEX_ID, self.embedder.version)
        self.start_process()

    def start_process(self) -> None:
        """Put the services together anew, as a process does that starts."""
        documents, queue = self._watched(self.documents), self._watched(self.queue)
        intake = Intake(
            documents,
            TextExtractor(),
            ChunkPolicy(),
            self.clock,
            self.new_id,
        )
        self.intake = intake
        self.indexing = IndexingService(
            documents, queue, intake, self.clock, self._connector, self.progress.append
        )
        self.writer = IndexWriter(
            documents,
            self._watched(self.keywords),
            self._watched(self.vectors),
            self._watched(self.embedder),
        )
        handlers = {
            INDEX: self.writer.index,
            RELABEL: self.writer.relabel,
            REMOVE: self.writer.remove,
            INGEST: self.indexing.ingest,
        }
        self.worker = LaneWorker(queue, Lane.INDEXING, handlers)
        self.retrieval = RetrievalService(
            ScopePolicy(MemoryAccessRulesAdapter(self.state)),
            self.documents,
            self.keywords,
            self.vectors,
            HashEmbedder(),
            LexicalReranker(),
            RelevancePolicy(0.3),
        )

    def _watched(self, port: object) -> Any:
        return Watched(port, self._note)

    def _note(self, called: str) -> Any:
        return self.watch(called)

    def _connector(self, job: Job) -> ConnectorPort | None:
        source: Any = self.sources.get(job.payload["source"])
        return self._watched(source) if source else None

    async def request(self, source: str = "wiki") -> bool:
        """Ask for an ingest."""
        ok(await self.documents.put_corpus(self.corpus))
        asked = await self.indexing.request(ACME, CORPUS, source, {"source": source})
        return ok(asked)

    async def ingest(self, *, index: bool = True) -> None:
        """Read every source from end to end; then bring the indexes up to date, unless told not to."""
        for name in self.sources:
            await self.request(name)
            if not index:
                job = await self.leased(INGEST)
                ok((await self.indexing.ingest([job]))[0])
                ok(await self.queue.complete([job]))
        if index:
            await self.worker.work_off()

    async def leased(self, kind: str) -> LeasedJob:
        """Take the oldest job of a kind out of the queue."""
        row = next(r for r in self.state.jobs.values() if r.job.kind == kind and not r.dead_because)
        row.attempts += 1
        row.leased_until = self.clock.now() + LEASE
        return LeasedJob(row.id, row.job, row.attempts, row.cursor, str(row.attempts))

    async def found(self, question: str, principal: Principal) -> list[str]:
        """Return the titles that a person's search finds, in order."""
        request = RetrievalRequest(question, principal, (CORPUS,), k=20)
        result = ok(await self.retrieval.retrieve(request))
        return [scored.chunk.title for scored in result.chosen]

    def standing(self) -> dict[str, Any]:
        """Return all that is stored, without what differs from one run to the next."""
        source_of = {d.id: d.source_id for d in self.state.documents.values()}
        documents = {
            d.source_id: (
                d.title,
                d.rule.to_json(),
                d.content_digest != "",
                source_of.get(d.parent) if d.parent else None,
                [c.text for c in self.state.chunks[ACME, d.id]],
            )
            for d in self.state.documents.values()
        }
        assert len(documents) == len(self.state.documents), "a source has two documents"
        gaps = sorted((g.source_id, g.reason) for gaps in self.state.gaps.values() for g in gaps)
        return {"documents": documents, "gaps": gaps, "indexes": self.indexed()}

    def indexed(self) -> list[list[tuple[str, str, list[str]]]]:
        """Return what both indexes hold: passages of current versions, with their readers."""
        source_of = {d.id: d.source_id for d in self.state.documents.values()}
        return [
            sorted(
                (
                    source_of.get(row.chunk.document_id, "gone"),
                    row.chunk.text,
                    sorted(row.chunk.readers),
                )
                for row in store._partitions[INDEX_ID]._rows.values()
            )
            for store in (self.keywords, self.vectors)
        ]

    def dead(self) -> list[str]:
        """Return why jobs were parked."""
        return [row.dead_because for row in self.state.jobs.values() if row.dead_because]


@dataclass(frozen=True)
class Kit:
    """What a test of indexing builds with."""

    Desk: type[Desk] = Desk
    Source: type[Source] = Source
    Page: type[Page] = Page
    Killed: type[Killed] = Killed


@pytest.fixture
def kit() -> Kit:
    return Kit()
