"""Retrieval quality on the dev parts of the shared collections, beside BM25, dense and plain fusion in one run."""

import asyncio
import hashlib
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean

import numpy as np
import tantivy

from cogni_adapters.database.access_rules import DatabaseAccessRulesAdapter
from cogni_adapters.database.documents import DatabaseDocumentStoreAdapter
from cogni_adapters.database.engine import Database
from cogni_adapters.database.migrate import migrate
from cogni_adapters.database.vector_store import DatabaseVectorStoreAdapter
from cogni_adapters.minilm.embedder import MiniLmEmbedderAdapter
from cogni_adapters.minilm.model import MiniLm
from cogni_adapters.minilm.reranker import MaxSimRerankerAdapter
from cogni_adapters.system.clock import SystemClockAdapter
from cogni_adapters.tantivy.keyword_search import TantivyKeywordSearchAdapter
from cogni_application.retrieval.retrieve import RetrievalService
from cogni_domain.access.scope import ScopePolicy
from cogni_domain.knowledge.ranking import fuse
from cogni_domain.knowledge.relevance import RelevancePolicy
from cogni_domain.ports.embedder import EmbedderPort, Vectors
from cogni_embedded.evaluation_sets import SETS, SharedSet, Text, shared_set
from cogni_embedded.evaluation_targets import IndexedSet, indexed
from cogni_evaluation import (
    Blocked,
    Case,
    Change,
    ChangeGate,
    ChangeKind,
    RetrievalReport,
    RetrievalSuite,
    Stratum,
    scored,
)
from cogni_kernel import ChunkId, DocumentId, Err, Ok, Result
from cogni_testing import HashEmbedder, ok

K, DEPTH = 10, 100
SMALLEST = "cranfield"
AIMS = {"scifact": 0.75, "cranfield": 0.40}
LIMITS = {"scifact": (0.713, 0.639, 0.731), "cranfield": (0.328, 0.356, 0.379)}
"""BM25, dense and plain fusion, as they were once measured over whole documents: never below."""
Search = Callable[[Case], Sequence[DocumentId]]


class Remembered(EmbedderPort):
    """Keeps vectors in a file between runs: embedding a collection takes minutes."""

    def __init__(self, embedder: EmbedderPort) -> None:
        self._embedder = embedder
        folder = Path(tempfile.gettempdir()) / "cogni-bench"
        folder.mkdir(exist_ok=True)
        self._file = folder / f"{hashlib.sha256(embedder.version.encode()).hexdigest()[:16]}.npz"
        self._kept: dict[str, Vectors] = {}
        if self._file.exists():
            with np.load(self._file) as found:
                self._kept = dict(zip(found["names"].tolist(), found["vectors"], strict=True))

    @property
    def dimension(self) -> int:
        return self._embedder.dimension

    @property
    def version(self) -> str:
        return self._embedder.version

    async def embed(self, texts: Sequence[str]) -> Result[Vectors]:
        names = [hashlib.sha256(text.encode()).hexdigest()[:32] for text in texts]
        missing = {n: t for n, t in zip(names, texts, strict=True) if n not in self._kept}
        found = await self._embedder.embed(list(missing.values()))
        if isinstance(found, Err):
            return found
        self._kept |= zip(missing, found.value, strict=True)
        return Ok(np.stack([self._kept[name] for name in names]))

    def keep(self) -> None:
        np.savez(
            self._file,
            names=np.array(list(self._kept)),
            vectors=np.stack(list(self._kept.values())),
        )


def bm25(texts: Sequence[Text]) -> Search:
    """Tantivy by itself over whole documents."""
    builder = tantivy.SchemaBuilder()
    builder.add_unsigned_field("number", stored=True)
    builder.add_text_field("body", tokenizer_name="en_stem", index_option="freq")
    index = tantivy.Index(builder.build())
    writer = index.writer(64_000_000, 1)
    for number, text in enumerate(texts):
        writer.add_document(tantivy.Document(number=number, body=f"{text.title}. {text.body}"))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    searcher = index.searcher()

    def search(case: Case) -> Sequence[DocumentId]:
        words = "".join(c if c.isalnum() else " " for c in case.question.lower())
        query = index.parse_query(words, ["body"])
        return [
            texts[searcher.doc(a)["number"][0]].id for _, a in searcher.search(query, DEPTH).hits
        ]

    return search


async def dense(target: IndexedSet, cases: Sequence[Case]) -> dict[str, Sequence[DocumentId]]:
    """The product's vectors alone; a document stands where its best passage does."""
    service, found = target.retrieval, dict[str, Sequence[DocumentId]]()
    scope = ok(await service.scopes.resolve(target.reader, [target.corpus.id]))
    for case in cases:
        vector = ok(await service.embedder.embed([case.question]))
        hits = ok(await service.vectors.knn(target.corpus.index, vector, scope.predicate, DEPTH))
        found[case.id] = list(dict.fromkeys(hit.document_id for hit in hits))
    return found


def fused(one: Sequence[DocumentId], other: Sequence[DocumentId]) -> Sequence[DocumentId]:
    rankings = [[ChunkId(str(document)) for document in ranking] for ranking in (one, other)]
    return [DocumentId(str(chunk)) for chunk in fuse(rankings, DEPTH)]


def mean_ndcg(cases: Sequence[Case], found: Mapping[str, Sequence[DocumentId]]) -> float:
    return fmean(scored(found[case.id], case.must_retrieve, K).ndcg for case in cases)


async def with_product(
    folder: Path, shared: SharedSet, model: MiniLm, embedder: EmbedderPort
) -> tuple[RetrievalReport, dict[str, Sequence[DocumentId]]]:
    """Return what the product finds with its defaults, and what the embedder finds alone."""
    migrate(f"sqlite:///{folder / 'bench.db'}")
    database = Database(f"sqlite:///{folder / 'bench.db'}")
    keywords = TantivyKeywordSearchAdapter(folder / "keywords")
    service = RetrievalService(
        ScopePolicy(DatabaseAccessRulesAdapter(database)),
        DatabaseDocumentStoreAdapter(database),
        keywords,
        DatabaseVectorStoreAdapter(database),
        embedder,
        MaxSimRerankerAdapter(model),
        RelevancePolicy(),
    )
    target = ok(await indexed(service, shared, SystemClockAdapter(), lambda _: None))
    report = await RetrievalSuite(K, samples=1).run(shared.cases.cases, target)
    alone = await dense(target, shared.cases.cases)
    await keywords.close()
    await database.close()
    return report, alone


async def measured(name: str) -> dict[str, object]:
    """Return one set's figures."""
    shared = ok(shared_set(name, Path(os.environ.get("COGNI_SHARED", "../shared"))))
    model = MiniLm()
    embedder = Remembered(MiniLmEmbedderAdapter(model))
    cases = [case for case in shared.cases.cases if case.stratum is Stratum.COMMON]
    with tempfile.TemporaryDirectory() as folder:
        report, by_meaning = await with_product(Path(folder), shared, model, embedder)
    embedder.keep()
    words = bm25(shared.texts)
    by_words = {case.id: words(case) for case in cases}
    plain = {case.id: fused(by_words[case.id], by_meaning[case.id]) for case in cases}
    ours = report.per_stratum[Stratum.COMMON].ndcg.mean
    peers = [mean_ndcg(cases, found) for found in (by_words, by_meaning, plain)]
    figures: dict[str, object] = {
        "set": name,
        "questions": len(cases),
        "ndcg_ours": round(ours, 4),
        "ndcg_bm25": round(peers[0], 4),
        "ndcg_dense": round(peers[1], 4),
        "ndcg_fusion": round(peers[2], 4),
        "ratio_best_peer": round(ours / max(peers), 3),
        "ratio_best_limit": round(ours / max(LIMITS[name]), 3),
        "ratio_aim": round(ours / AIMS[name], 3),
        "unanswerable_empty": round(report.per_stratum[Stratum.UNANSWERABLE].empty_rate.mean, 3),
        "scope_violations": len(report.scope_violations),
    }
    return figures if name != SMALLEST else {**figures, **await gated(shared, model, report)}


async def gated(shared: SharedSet, model: MiniLm, before: RetrievalReport) -> dict[str, object]:
    """Return what the gate says of an embedder that knows nothing of meaning."""
    with tempfile.TemporaryDirectory() as folder:
        worse, _ = await with_product(Path(folder), shared, model, HashEmbedder(64))
    verdict = ok(ChangeGate().evaluate(Change(ChangeKind.EMBEDDING, before, worse)))
    return {
        "ndcg_worse_embedder": round(worse.per_stratum[Stratum.COMMON].ndcg.mean, 4),
        "gate_blocks_worse_embedder": isinstance(verdict, Blocked),
        "gate_objections": list(verdict.comparison.objections),
    }


def run() -> Iterator[dict[str, object]]:
    """Yield one row a set; more is better in all of them."""
    for name in SETS:
        yield asyncio.run(measured(name))
