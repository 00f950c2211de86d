"""The embedder and the reranker beside a plain loop over the same network; a question while much is indexed."""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from pathlib import Path
from statistics import median

from cogni_adapters.minilm.embedder import MiniLmEmbedderAdapter
from cogni_adapters.minilm.model import MiniLm
from cogni_adapters.minilm.network import Network, Precision
from cogni_adapters.minilm.reranker import MAX_CANDIDATES, MaxSimRerankerAdapter
from cogni_domain.ports.reranker import RerankerPort
from cogni_testing.contracts.reranker import passages

QUESTION = "How many weeks of parental leave do I get?"
TOKENS = 236
PASSAGES = 60
ROUNDS = 5
CANDIDATE_TOKENS = 150
_WORDS = (
    "leave pump meter week team water office travel form manager pay day child report error price book "
    "field service order contract visit clock record paper light river engine school north market"
)


def run() -> Iterator[dict[str, object]]:
    yield asyncio.run(_figures())


def texts(number: int, tokens: int, seed: int = 1) -> list[str]:
    """Return texts of exactly so many tokens: each word is one, and two stand around them."""
    draw, words = random.Random(seed), _WORDS.split()
    return [" ".join(draw.choices(words, k=tokens - 2)) for _ in range(number)]


async def _figures() -> dict[str, object]:
    before = _resident_mib()
    model = MiniLm()
    embedder = MiniLmEmbedderAdapter(model)
    started = time.perf_counter()
    await embedder.embed([QUESTION])
    first_s = time.perf_counter() - started
    long = texts(PASSAGES, TOKENS)
    ours, plain = [], []
    network = Network(Precision.native(), streams=1)
    for _ in range(ROUNDS):
        ours.append(await _seconds(lambda: embedder.embed(long)))
        plain.append(_plain_loop(network, long))
    del network
    return {
        "precision": Precision.native().value,
        "first_query_ms": round(first_s * 1e3, 1),
        "passages_per_s": round(PASSAGES / median(ours), 1),
        "plain_loop_passages_per_s": round(PASSAGES / median(plain), 1),
        "ratio_limit": round(median(a / b for a, b in zip(ours, plain, strict=True)), 3),
        "query_ms": await _query_ms(embedder),
        "query_while_indexing_ms": await _query_while_indexing_ms(embedder),
        **await _rerank_ms(MaxSimRerankerAdapter(model)),
        "resident_mib": _resident_mib() - before,
    }


def _plain_loop(network: Network, long: Sequence[str]) -> float:
    """Return the seconds of the shortest way: one thread, one passage a run."""
    started = time.perf_counter()
    for encoded in network.encode(long):
        network.infer([encoded])[0].mean(axis=0)
    return time.perf_counter() - started


async def _query_ms(embedder: MiniLmEmbedderAdapter) -> float:
    taken = [await _seconds(lambda: embedder.embed([QUESTION])) for _ in range(40)]
    return round(median(taken) * 1e3, 2)


async def _query_while_indexing_ms(embedder: MiniLmEmbedderAdapter) -> float:
    indexing = asyncio.create_task(embedder.embed(texts(600, TOKENS, seed=2)))
    await asyncio.sleep(0.2)
    waited = await _query_ms(embedder)
    indexing.cancel()
    return waited


async def _rerank_ms(reranker: RerankerPort) -> dict[str, float]:
    cold, warm = [], []
    for seed in range(ROUNDS):
        chunks = passages(texts(MAX_CANDIDATES, CANDIDATE_TOKENS, seed=100 + seed))
        cold.append(await _seconds(lambda c=chunks: reranker.rank(QUESTION, c)))  # type: ignore[misc]
        warm.append(await _seconds(lambda c=chunks: reranker.rank(QUESTION, c)))  # type: ignore[misc]
    return {
        f"rerank_{MAX_CANDIDATES}_cold_ms": round(median(cold) * 1e3, 1),
        f"rerank_{MAX_CANDIDATES}_warm_ms": round(median(warm) * 1e3, 1),
    }


async def _seconds(work: Callable[[], Awaitable[object]]) -> float:
    started = time.perf_counter()
    await work()
    return time.perf_counter() - started


def _resident_mib() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 // 2**20
