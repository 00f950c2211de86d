"""What goes on beside requests, in this one process."""

import asyncio
from dataclasses import dataclass, field

from cogni_application.background import forever
from cogni_domain.conversations import IDLE_END
from cogni_domain.jobs import Lane
from cogni_domain.ports.clock import ClockPort
from cogni_domain.ports.embedder import EmbedderPort
from cogni_domain.ports.transcript_store import TranscriptStorePort
from cogni_embedded.bootstrap import Product

SWEEP_S = 30.0
LAST_ATTEMPTS_S = 2.0
"""How long attempts to deliver an event have to end; those cut off are made again after the next start."""


@dataclass
class Background:
    """Writing deltas, leases, reaping, lanes, sweeping, events on their way out."""

    product: Product
    tasks: list[asyncio.Task[None]] = field(default_factory=list)
    leaving: list[asyncio.Task[None]] = field(default_factory=list)

    def start(self) -> None:
        """Start everything; the indexing lane twice, so that reading a source and embedding go side by side."""
        p = self.product
        work = [
            self._warm_up(),
            p.streams.write(),
            p.turns.keep_leases(),
            p.reaper.watch(),
            forever(self._sweep, SWEEP_S),
            p.lanes[Lane.INDEXING].work(),
            p.lanes[Lane.INDEXING].work(),
            p.lanes[Lane.CONVERSATIONAL].work(),
        ]
        self.leaving = [asyncio.create_task(w) for w in p.leaving.work()]
        self.tasks = [*(asyncio.create_task(w) for w in work), *self.leaving]

    async def _warm_up(self) -> None:
        """Load the model, so that the first question does not wait for it."""
        await self.product.bindings.container.resolve(EmbedderPort).embed(["warm-up"])

    async def drain(self) -> None:
        """End every run as Halted with what it had, sealed."""
        await self.product.turns.drain()

    async def stop(self) -> None:
        """End runs and everything else; let go of files and processes."""
        await self.drain()
        self.product.leaving.draining.set()
        if self.leaving:
            await asyncio.wait(self.leaving[:1], timeout=LAST_ATTEMPTS_S)
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)
        await self.product.bindings.close()

    async def _sweep(self) -> None:
        """Bring on what crashes left behind, and end conversations that nobody goes on with."""
        container = self.product.bindings.container
        await self.product.proposals.sweep()
        before = container.resolve(ClockPort).now() - IDLE_END
        await container.resolve(TranscriptStorePort).end_idle(before)
        for tenant in self.product.demo.intranets:
            await self.product.attachments.sweep(tenant)
