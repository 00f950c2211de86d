"""What an old message costs a call: CPU of a turn with 400 of them less that of one with none, by message and call.

`ratio_openai` is by what the same costs a loop on the SDK's typed stream, in the same rounds.
"""

import asyncio
from collections.abc import Iterator
from statistics import median

from bench.loop import by_engine, by_hand, cpu_ms, provider

LIMIT_US = 10.0
OLD, CALLS, ROUNDS, TURNS = 400, 2, 9, 8


def past() -> list[tuple[str, str]]:
    filler = "The package left the warehouse and is on its way to the customer. " * 3
    return [("user" if n % 2 == 0 else "assistant", f"{n}: {filler}") for n in range(OLD)]


async def measured(address: str) -> dict[str, list[float]]:
    """Return microseconds an old message and call, a round."""
    old: list[tuple[str, str]] = past()
    none: list[tuple[str, str]] = []
    figures: dict[str, list[float]] = {"openai": [], "engine": []}
    async with by_engine(address) as engine:
        peers = {"openai": by_hand(address), "engine": engine}
        for peer in peers.values():
            await cpu_ms(peer, 2, old)
        for _ in range(ROUNDS):
            for name, peer in peers.items():
                more_ms = await cpu_ms(peer, TURNS, old) - await cpu_ms(peer, TURNS, none)
                figures[name].append(more_ms * 1000 / OLD / CALLS)
    return figures


def run() -> Iterator[dict[str, object]]:
    with provider() as address:
        figures = asyncio.run(measured(address))
    ratios = [
        ours / theirs for ours, theirs in zip(figures["engine"], figures["openai"], strict=True)
    ]
    cost_us = median(figures["engine"])
    yield {
        "old_messages": OLD,
        "us_a_message_and_call": round(cost_us, 2),
        "openai_us_a_message_and_call": round(median(figures["openai"]), 1),
        "ratio_openai": round(median(ratios), 4),
        "ratio_limit": round(cost_us / LIMIT_US, 3),
    }
