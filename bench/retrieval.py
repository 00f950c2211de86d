"""Hybrid retrieval over 100,000 passages of which a person may read a tenth; embedding and reranking apart."""

import asyncio
import resource
import tempfile
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from cogni_adapters.database.access_rules import DatabaseAccessRulesAdapter
from cogni_adapters.database.documents import DatabaseDocumentStoreAdapter
from cogni_adapters.database.engine import Database
from cogni_adapters.database.migrate import migrate
from cogni_adapters.database.vector_store import DatabaseVectorStoreAdapter
from cogni_adapters.tantivy.keyword_search import TantivyKeywordSearchAdapter
from cogni_application.retrieval.retrieve import RetrievalRequest, RetrievalService
from cogni_domain.access.principal import Memberships, MembershipState, Principal, PrincipalKind
from cogni_domain.access.rule import AccessRule
from cogni_domain.access.scope import ScopePolicy
from cogni_domain.knowledge.analysis import analyse
from cogni_domain.knowledge.corpus import Chunk, Corpus, Document, IndexId, ScoredChunk, chunk_id
from cogni_domain.knowledge.relevance import RelevancePolicy
from cogni_domain.ports.embedder import EmbedderPort, Vectors
from cogni_domain.ports.reranker import RerankerPort
from cogni_kernel import CorpusId, DocumentId, Ok, PrincipalId, Result, TenantId

CHUNKS = 100_000
PER_DOCUMENT = 10
GROUPS = 10
DIMENSION = 384
QUERIES = 200
LIMIT_MS = 15.0
LIMIT_MIB = 1024
TENANT, CORPUS = TenantId("bench"), CorpusId("bench")


class FixedEmbedder(EmbedderPort):
    """Vectors made beforehand: what embedding costs is measured elsewhere."""

    def __init__(self, queries: Vectors) -> None:
        self._queries = queries
        self._next = 0

    @property
    def dimension(self) -> int:
        return DIMENSION

    @property
    def version(self) -> str:
        return "fixed"

    async def embed(self, texts: Sequence[str]) -> Result[Vectors]:
        self._next = (self._next + 1) % len(self._queries)
        return Ok(self._queries[self._next : self._next + 1])


class InOrder(RerankerPort):
    """Leaves the fused order alone."""

    async def rank(self, question: str, chunks: Sequence[Chunk]) -> Result[Sequence[ScoredChunk]]:
        return Ok([ScoredChunk(c, 1.0 - i / 1000) for i, c in enumerate(chunks)])


def words(rng: np.random.Generator, count: int) -> str:
    """Return text whose words are as unevenly common as those of a language."""
    ranks = np.minimum(rng.zipf(1.3, count), 50_000)
    return " ".join(f"w{rank}" for rank in ranks)


def document(number: int, texts: Sequence[str]) -> tuple[Document, list[Chunk]]:
    rule = AccessRule.any_of(f"g:bench/{number % GROUPS}")
    doc = Document(
        DocumentId(f"d{number}"),
        TENANT,
        CORPUS,
        f"s{number}",
        f"Title {number}",
        1,
        "r",
        rule,
        "text/plain",
        datetime.now(UTC),
    )
    chunks = [
        Chunk(
            chunk_id(doc.id, 1, i),
            doc.id,
            TENANT,
            CORPUS,
            doc.title,
            i,
            text,
            (),
            f"part {i}",
            rule.readers,
            1,
        )
        for i, text in enumerate(texts)
    ]
    return doc, chunks


async def filled(folder: Path, rng: np.random.Generator) -> tuple[Database, RetrievalService]:
    migrate(f"sqlite:///{folder / 'bench.db'}")
    database = Database(f"sqlite:///{folder / 'bench.db'}")
    documents = DatabaseDocumentStoreAdapter(database)
    vectors, keywords = (
        DatabaseVectorStoreAdapter(database),
        TantivyKeywordSearchAdapter(folder / "keywords"),
    )
    index = IndexId(TENANT, CORPUS)
    await documents.put_corpus(Corpus(CORPUS, TENANT, "bench", index, "fixed"))
    batch: list[Chunk] = []
    for number in range(CHUNKS // PER_DOCUMENT):
        doc, chunks = document(number, [words(rng, 60) for _ in range(PER_DOCUMENT)])
        await documents.put(doc, chunks, [])
        batch.extend(chunks)
        if len(batch) >= 5000:
            await vectors.upsert(index, batch, unit(rng, len(batch)))
            await keywords.upsert(index, batch, [analyse(c.indexed_text) for c in batch])
            batch.clear()
    scopes = ScopePolicy(DatabaseAccessRulesAdapter(database))
    embedder = FixedEmbedder(unit(rng, QUERIES + 1))
    service = RetrievalService(
        scopes, documents, keywords, vectors, embedder, InOrder(), RelevancePolicy(0.0)
    )
    return database, service


def unit(rng: np.random.Generator, count: int) -> Vectors:
    found = rng.standard_normal((count, DIMENSION), dtype=np.float32)
    length: Vectors = np.linalg.norm(found, axis=1, keepdims=True)
    return np.divide(found, length)


async def measure() -> dict[str, object]:
    rng = np.random.default_rng(7)
    with tempfile.TemporaryDirectory() as folder:
        started = time.perf_counter()
        database, service = await filled(Path(folder), rng)
        filling = time.perf_counter() - started
        groups = Memberships(frozenset({"bench/3"}), MembershipState.KNOWN, 1)
        reader = Principal(PrincipalId("p"), TENANT, PrincipalKind.HUMAN, frozenset(), groups)
        times = []
        for _ in range(QUERIES):
            request = RetrievalRequest(words(rng, 8), reader, (CORPUS,))
            began = time.perf_counter()
            result = await service.retrieve(request)
            times.append((time.perf_counter() - began) * 1000)
            assert isinstance(result, Ok)
            assert result.value.chosen
        await database.close()
    p50, p95 = np.percentile(times[20:], [50, 95])
    resident = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {
        "chunks": CHUNKS,
        "visible": CHUNKS // GROUPS,
        "p50_ms": round(float(p50), 2),
        "p95_ms": round(float(p95), 2),
        "ratio_limit": round(float(p50) / LIMIT_MS, 3),
        "resident_mib": round(resident),
        "ratio_limit_memory": round(resident / LIMIT_MIB, 3),
        "filling_s": round(filling, 1),
    }


def run() -> Iterator[dict[str, object]]:
    yield asyncio.run(measure())
