"""The local reader on eight passages: how long until its first word, and until its last."""

import asyncio
import time
from collections.abc import Iterator
from statistics import median, quantiles

from bench.embedding import texts
from cogni_adapters.minilm.embedder import MiniLmEmbedderAdapter
from cogni_adapters.minilm.model import MiniLm
from cogni_adapters.reader.model import LocalReaderAdapter
from cogni_engine import Delta, Emitter, PassagePart
from cogni_testing import ok
from cogni_testing.contracts.model import LOOK_UP, QUESTION, asked

ANSWER_LIMIT_MS = 1000.0
PASSAGES = 8
SENTENCES = 12
ROUNDS = 60
ANSWER = "Employees get 20 weeks of parental leave on full pay."


def run() -> Iterator[dict[str, object]]:
    yield asyncio.run(_figures())


async def _figures() -> dict[str, object]:
    reader = LocalReaderAdapter(MiniLmEmbedderAdapter(MiniLm()))
    firsts, wholes = [], []
    for seed in range(ROUNDS):
        first_ms, whole_ms = await _answer(reader, seed)
        firsts.append(first_ms)
        wholes.append(whole_ms)
    return {
        "passages": PASSAGES,
        "sentences": PASSAGES * SENTENCES,
        "first_word_p50_ms": round(median(firsts[1:]), 1),
        "answer_p50_ms": round(median(wholes[1:]), 1),
        "answer_p95_ms": round(quantiles(wholes[1:], n=20)[-1], 1),
        "ratio_limit": round(median(wholes[1:]) / ANSWER_LIMIT_MS, 3),
    }


async def _answer(reader: LocalReaderAdapter, seed: int) -> tuple[float, float]:
    """Return the milliseconds to the first word and to the whole answer."""
    parts = [
        PassagePart(f"s{n}", "Handbook", " ".join((ANSWER, *_filler(seed * PASSAGES + n))))
        for n in range(1, PASSAGES + 1)
    ]
    thread = asked(QUESTION, *parts)
    heard: list[float] = []

    def listen(_: Delta) -> None:
        heard.append(time.perf_counter())

    started = time.perf_counter()
    ok(await reader.complete(thread, [LOOK_UP], Emitter(listen)))
    ended = time.perf_counter()
    return (heard[0] - started) * 1e3, (ended - started) * 1e3


def _filler(seed: int) -> list[str]:
    return [f"{words.capitalize()}." for words in texts(SENTENCES - 1, 15, seed=seed)]
