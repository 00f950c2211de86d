"""A corpus in the embedded stores, who searches it, and what judges a rebuild of it."""

import shutil
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from cogni_adapters.database.access_rules import DatabaseAccessRulesAdapter
from cogni_adapters.database.migrate import migrate
from cogni_adapters.system.clock import SystemClockAdapter
from cogni_application.indexing.intake import INDEX
from cogni_application.indexing.standing import RELABEL, REMOVE, document_job
from cogni_application.rebuild.rebuild import (
    Approved,
    Blocked,
    CutoverGate,
    Judgement,
    RebuildService,
)
from cogni_application.retrieval.retrieve import (
    RetrievalRequest,
    RetrievalResult,
    RetrievalService,
)
from cogni_domain.access.rule import AccessRule
from cogni_domain.access.scope import ScopePolicy
from cogni_domain.knowledge.corpus import Corpus, Document, IndexId
from cogni_domain.knowledge.relevance import RelevancePolicy
from cogni_domain.ports.embedder import EmbedderPort
from cogni_kernel import Ok, Result
from cogni_testing import HashEmbedder, LexicalReranker, ok
from cogni_testing.contracts.knowledge import (
    ACME,
    ALICE,
    EVERYONE,
    HANDBOOK,
    a_document,
    passages,
)
from cogni_testing.contracts.knowledge import IN_HR as HELEN
from tests.rebuild.filling_process import Stores

OLD, NEW = HashEmbedder(64), HashEmbedder(128)


class Gate(CutoverGate):
    """Says yes, or what it was told to say; remembers what it compared."""

    def __init__(self, *objections: str) -> None:
        self.objections = objections
        self.compared: list[tuple[int, int]] = []

    async def judge(self, before: Corpus, after: Corpus) -> Result[Judgement]:
        self.compared.append((before.index.generation, after.index.generation))
        return Ok(Blocked(self.objections) if self.objections else Approved())


class Shelf:
    """One corpus; its documents are each about a number."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.stores = Stores.of(folder)
        self.corpus = Corpus(HANDBOOK, ACME, "Handbook", IndexId(ACME, HANDBOOK), OLD.version)

    def service(self, embedder: EmbedderPort) -> RebuildService:
        """Return the service of a process that has this model bound, and the old one."""
        models = frozenset({embedder.version, OLD.version})
        return RebuildService(
            self.stores.rebuilds,
            self.stores.documents,
            SystemClockAdapter(),
            embedder.version,
            models,
        )

    async def fill(self, count: int) -> None:
        """Put documents in, and index them."""
        ok(await self.stores.documents.put_corpus(self.corpus))
        for n in range(count):
            await self.put(n)
        await self.work_off(OLD)

    async def put(self, n: int, text: str = "", rule: AccessRule = EVERYONE, at: int = 1) -> None:
        """Write a version of a document."""
        document = self.document(n, rule, at)
        chunks = passages(document, text or f"the answer of question{n} is number{n}")
        jobs = [document_job(INDEX, document, str(at))]
        ok(await self.stores.documents.put(document, chunks, jobs))

    async def restrict(self, n: int, rule: AccessRule) -> None:
        """Put a document under another rule."""
        document = self.document(n, rule)
        job = document_job(RELABEL, document, rule.digest)
        ok(await self.stores.documents.change_rule(ACME, document.id, rule, [job]))

    async def delete(self, n: int) -> None:
        """Remove a document."""
        document = self.document(n)
        job = document_job(REMOVE, document, "gone")
        ok(await self.stores.documents.delete(ACME, [document.id], [job]))

    async def work_off(self, embedder: EmbedderPort, *former: EmbedderPort) -> None:
        """Do every job that waits."""
        await self.stores.worker(embedder, *former).work_off()

    async def found(self, question: str, *, hr: bool = False, by: EmbedderPort = OLD) -> set[str]:
        """Return the ids of the documents that somebody finds."""
        result = ok(await self.asked(question, hr=hr, by=by))
        return {str(scored.chunk.document_id) for scored in result.chosen}

    async def asked(
        self, question: str, *, hr: bool = False, by: EmbedderPort = OLD
    ) -> Result[RetrievalResult]:
        """Return what a search answers."""
        request = RetrievalRequest(question, HELEN if hr else ALICE, (HANDBOOK,), k=3)
        return await self.retrieval(by).retrieve(request)

    def retrieval(self, by: EmbedderPort) -> RetrievalService:
        """Return what searches with a model."""
        s = self.stores
        scopes = ScopePolicy(DatabaseAccessRulesAdapter(s.database))
        parts = (scopes, s.documents, s.keywords, s.vectors, by, LexicalReranker())
        return RetrievalService(*parts, RelevancePolicy(0.0))

    def document(self, n: int, rule: AccessRule = EVERYONE, at: int = 1) -> Document:
        """Return a document."""
        return replace(a_document(f"d{n:06}", rule, version=at), title=f"Page {n}")


@pytest.fixture(scope="session")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("migrated") / "cogni.db"
    ok(migrate(f"sqlite:///{path}"))
    return path


@pytest.fixture
async def shelf(migrated: Path, tmp_path: Path) -> AsyncIterator[Shelf]:
    shutil.copy(migrated, tmp_path / "cogni.db")
    made = Shelf(tmp_path)
    yield made
    await made.stores.close()
