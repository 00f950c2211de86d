"""Keyword search among 100,000 passages of which the reader may see a tenth."""

import asyncio
import random
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from pathlib import Path

import tantivy

from cogni_adapters.tantivy.keyword_search import TantivyKeywordSearchAdapter
from cogni_domain.access.rule import AccessRule
from cogni_domain.knowledge.analysis import analyse, analyse_question
from cogni_domain.knowledge.corpus import Chunk, IndexId, chunk_id
from cogni_kernel import CorpusId, DocumentId, TenantId
from cogni_testing import fake_principal, fake_scope, ok

PASSAGES = 100_000
WORDS_OF_A_PASSAGE = 120
QUESTIONS = 100
WORDS_OF_A_QUESTION = 8
GROUPS = 100
OURS = 10
HITS = 100
LIMIT_MS = 15.0
BATCH = 5_000

INDEX = IndexId(TenantId("acme"), CorpusId("handbook"))
FREQUENT = (
    "the of and to a in is it you that he was for on are with as his they be at one have this from or had by"
    " not but what all were when we there can an your which their said if do will each about how up out them"
)
SYLLABLES = [consonant + vowel for consonant in "bdfghklmnprstvz" for vowel in "aeiou"]


class Language:
    """Words as unevenly common as those of English, its frequent words among them, the same in every run."""

    def __init__(self) -> None:
        self._random = random.Random(7)
        stems = ["".join(self._random.choices(SYLLABLES, k=3)) for _ in range(20_000)]
        endings = self._random.choices(["", "", "s", "ing", "ed"], k=60_000)
        inflected = [self._random.choice(stems) + ending for ending in endings]
        self._words = FREQUENT.split() + inflected
        self._weights = list(accumulate(1 / (rank + 2.7) for rank in range(len(self._words))))

    def text(self, words: int) -> str:
        """Return so many words."""
        return " ".join(self._random.choices(self._words, cum_weights=self._weights, k=words))


def passage(number: int, text: str) -> Chunk:
    readers = AccessRule.any_of(f"g:wiki/{number % GROUPS}").readers
    document = DocumentId(f"d{number}")
    return Chunk(
        chunk_id(document, 1, 0),
        document,
        INDEX.tenant_id,
        INDEX.corpus_id,
        "",
        0,
        text,
        (),
        "",
        readers,
        1,
    )


async def ours(
    folder: Path, texts: Sequence[str], questions: Sequence[str]
) -> tuple[float, list[float]]:
    """Return the seconds of indexing and the milliseconds of each question, its analysis included."""
    store = TantivyKeywordSearchAdapter(folder)
    groups = [f"wiki/{number}" for number in range(OURS)]
    predicate = fake_scope(fake_principal(groups=groups)).predicate
    began = time.perf_counter()
    for start in range(0, len(texts), BATCH):
        part = texts[start : start + BATCH]
        chunks = [passage(start + at, text) for at, text in enumerate(part)]
        ok(await store.upsert(INDEX, chunks, [analyse(text) for text in part]))
    indexing = time.perf_counter() - began
    times = []
    for question in questions:
        began = time.perf_counter()
        hits = ok(await store.search(INDEX, analyse_question(question), predicate, HITS))
        times.append((time.perf_counter() - began) * 1000)
        assert hits
    await store.close()
    return indexing, times


def plain_tantivy(texts: Sequence[str]) -> Callable[[str], object]:
    """Tantivy by itself: its stemmer, and BM25 over the hidden passages too."""
    builder = tantivy.SchemaBuilder()
    builder.add_unsigned_field("number", stored=True)
    builder.add_text_field("reader", tokenizer_name="raw", index_option="basic")
    builder.add_text_field("body", tokenizer_name="en_stem", index_option="freq")
    index = tantivy.Index(builder.build())
    writer = index.writer(64_000_000, 1)
    for number, text in enumerate(texts):
        writer.add_document(tantivy.Document(number=number, reader=f"{number % GROUPS}", body=text))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    readers = tantivy.Query.term_set_query(index.schema, "reader", [str(n) for n in range(OURS)])
    visible = (tantivy.Occur.Must, tantivy.Query.const_score_query(readers, 0.0))

    def search(question: str) -> object:
        query = tantivy.Query.boolean_query(
            [(tantivy.Occur.Must, index.parse_query(question, ["body"])), visible]
        )
        searcher = index.searcher()
        return [searcher.doc(a)["number"] for _, a in searcher.search(query, HITS).hits]

    return search


def fts5(texts: Sequence[str]) -> Callable[[str], object]:
    """SQLite's full-text index, filtered by a second table."""
    database = sqlite3.connect(":memory:")
    database.execute("create virtual table passage using fts5(body, tokenize='porter')")
    database.execute("create table reader(id integer primary key, reader integer)")
    for number, text in enumerate(texts):
        database.execute("insert into passage(rowid, body) values (?, ?)", (number, text))
        database.execute("insert into reader values (?, ?)", (number, number % GROUPS))
    statement = (
        "select rowid from passage where passage match ? and +rowid in"
        " (select id from reader where reader < ?) order by rank limit ?"
    )

    def search(question: str) -> object:
        words = " OR ".join(f'"{word}"' for word in question.split())
        return database.execute(statement, (words, OURS, HITS)).fetchall()

    return search


def timed(search: Callable[[str], object], questions: Sequence[str]) -> float:
    """Return the median of milliseconds."""
    times = []
    for question in questions:
        began = time.perf_counter()
        search(question)
        times.append((time.perf_counter() - began) * 1000)
    return statistics.median(times)


def run() -> Iterator[dict[str, object]]:
    """Yield one row: indexing, p50 and p95 of a question, and the same of others."""
    language = Language()
    texts = [language.text(WORDS_OF_A_PASSAGE) for _ in range(PASSAGES)]
    questions = [language.text(WORDS_OF_A_QUESTION) for _ in range(QUESTIONS)]
    with tempfile.TemporaryDirectory() as folder:
        indexing, times = asyncio.run(ours(Path(folder), texts, questions))
    p50, p95 = statistics.median(times), statistics.quantiles(times, n=20)[-1]
    tantivy_ms = timed(plain_tantivy(texts), questions)
    fts5_ms = timed(fts5(texts), questions[:10])
    yield {
        "passages": PASSAGES,
        "visible": PASSAGES * OURS // GROUPS,
        "indexed_per_s": round(PASSAGES / indexing),
        "p50_ms": round(p50, 2),
        "p95_ms": round(p95, 2),
        "tantivy_p50_ms": round(tantivy_ms, 2),
        "fts5_p50_ms": round(fts5_ms, 2),
        "ratio_limit": round(p50 / LIMIT_MS, 3),
        "ratio_limit_p95": round(p95 / LIMIT_MS, 3),
        "ratio_tantivy": round(p50 / tantivy_ms, 2),
        "ratio_fts5": round(p50 / fts5_ms, 3),
    }
