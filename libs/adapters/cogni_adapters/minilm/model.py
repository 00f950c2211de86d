"""all-MiniLM-L6-v2 with int8 weights, run by OpenVINO on the processor, shared by all that reads with it."""

import asyncio
import os
import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

from cogni_adapters.minilm.network import (
    WEIGHTS,
    Encoded,
    Hidden,
    Network,
    Precision,
    padded,
)
from cogni_adapters.minilm.urgency import Urgency, UrgentFirst
from cogni_kernel import Err, HumanText, Ok, Result, UpstreamError

R = TypeVar("R")

BATCH_TOKENS = 256
"""In one batch, padding included: about 10 ms on one core, and the longest that a question waits."""
ENCODED_AT_ONCE = 16
MAX_STREAMS = 4

UNAVAILABLE = HumanText("The search model can't be run here. An administrator has to look at it.")


class MiniLm:
    """Token vectors of text, mostly English, of 256 tokens at most; what is longer is cut.

    Loaded at first use, by one of its own threads. Each thread runs one small batch at a time and the most
    urgent one that waits is next, so a question waits for a batch, however much is being indexed.

    Args:
        precision: What to calculate in; None for what the processor does best. Processes that share an
            index must agree, since the vectors of two precisions differ a little.
        streams: Threads, each with a core of its own; None for the cores at hand, at most four.
    """

    def __init__(self, precision: Precision | None = None, streams: int | None = None) -> None:
        self._precision = precision or Precision.native()
        self._streams = streams or min(_cores(), MAX_STREAMS)
        self._queue = UrgentFirst(self._streams)
        self._loading = threading.Lock()
        self._network: Network | None = None

    @property
    def version(self) -> str:
        """Weights, engine and precision: all that changes a vector."""
        return f"{WEIGHTS}/openvino/{self._precision.value}"

    async def encode(self, texts: Sequence[str], urgency: Urgency) -> Result[list[Encoded]]:
        """Split texts into tokens.

        Errors:
            UpstreamError: The model could not be loaded.
        """
        starts = range(0, len(texts), ENCODED_AT_ONCE)
        parts = [texts[start : start + ENCODED_AT_ONCE] for start in starts]
        found = await self.run([partial(self._encode, part) for part in parts], urgency)
        return found.map(lambda encoded: [text for part in encoded for text in part])

    async def read(
        self, texts: Sequence[Encoded], reduce: Callable[[Hidden], R], urgency: Urgency
    ) -> Result[list[R]]:
        """Run the network over each text; return what `reduce` makes of its token vectors, in order.

        Errors:
            UpstreamError: The model could not be loaded or run.
        """
        batches = _batches(texts)
        found = await self.run(
            [partial(self._read, [texts[n] for n in batch], reduce) for batch in batches], urgency
        )
        if isinstance(found, Err):
            return found
        places = [n for batch in batches for n in batch]
        reduced = [r for batch in found.value for r in batch]
        kept = dict(zip(places, reduced, strict=True))
        return Ok([kept[n] for n in range(len(texts))])

    async def run(self, jobs: Sequence[Callable[[], R]], urgency: Urgency) -> Result[list[R]]:
        """Run short jobs on the model's threads; cancelled together with the caller."""
        waiting = [asyncio.wrap_future(self._queue.submit(urgency, job)) for job in jobs]
        try:
            return Ok(list(await asyncio.gather(*waiting)))
        except Exception as failure:
            for job in waiting:
                job.cancel()
            detail = {"failure": repr(failure)}
            return Err(UpstreamError(UNAVAILABLE, retryable=False, detail=detail))

    def _encode(self, texts: Sequence[str]) -> list[Encoded]:
        return self._loaded().encode(texts)

    def _read(self, batch: Sequence[Encoded], reduce: Callable[[Hidden], R]) -> list[R]:
        return [reduce(hidden) for hidden in self._loaded().infer(batch)]

    def _loaded(self) -> Network:
        with self._loading:
            if self._network is None:
                self._network = Network(self._precision, self._streams)
            return self._network


def _cores() -> int:
    """Return the cores that this process may use, as far as the system tells."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _batches(texts: Sequence[Encoded]) -> list[list[int]]:
    """Group texts of like length by position, into powers of two that fit in BATCH_TOKENS.

    The engine prepares itself for every shape that it meets and keeps memory for it, so shapes are few.
    """
    order = sorted(range(len(texts)), key=lambda n: len(texts[n]))
    batches: list[list[int]] = []
    start = 0
    while start < len(order):
        size = 1
        while start + 2 * size <= len(order) and _fits(
            texts[order[start + 2 * size - 1]], 2 * size
        ):
            size *= 2
        batches.append(order[start : start + size])
        start += size
    return batches


def _fits(longest: Encoded, size: int) -> bool:
    return padded(len(longest)) * size <= BATCH_TOKENS
