"""Bringing deliveries to their endpoints, a few at a time to each, so that a slow one slows nobody else."""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from cogni_application.background import forever
from cogni_domain.events_outgoing import (
    DeliveryOutcome,
    GivenUp,
    LeasedDelivery,
    NotDelivered,
    WebhookMessage,
    settle,
)
from cogni_domain.ports.clock import ClockPort
from cogni_domain.ports.event_deliveries import EventDeliveriesPort
from cogni_domain.ports.event_secrets import EventSecretsPort
from cogni_domain.ports.event_sink import EventSinkPort
from cogni_kernel import Err

AT_ONCE = 4
"""Deliveries of one subscription in all hands together."""

LEASE = timedelta(seconds=60)
IDLE_S = 0.1
KEPT = timedelta(days=7)
"""How long what was delivered is kept, to be looked at."""

SWEEP_S = 3600.0

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class DeliveryWorker:
    """Takes what is due, tries it, writes what came of it. Several may work at once.

    Attributes:
        chance: From 0 up to 1, drawn anew each time; spreads retries.
    """

    deliveries: EventDeliveriesPort
    secrets: EventSecretsPort
    sink: EventSinkPort
    clock: ClockPort
    chance: Callable[[], float]

    async def work(self, draining: asyncio.Event) -> None:
        """Work until cancelled, or told to drain: then end what has begun, and begin nothing more."""
        running: set[asyncio.Task[None]] = set()
        try:
            while not draining.is_set():
                running |= {asyncio.create_task(self._try(taken)) for taken in await self._take()}
                running = await _some_end(running)
            if running:
                await asyncio.wait(running)
        finally:
            for task in running:
                task.cancel()

    async def work_off(self) -> int:
        """Try everything that is due, once; return how many attempts that were."""
        attempts = 0
        while taken := await self._take():
            await asyncio.gather(*map(self._try, taken))
            attempts += len(taken)
        return attempts

    async def sweep(self) -> None:
        """Forget what was delivered long ago, again and again, until cancelled."""

        async def forget() -> None:
            await self.deliveries.forget(self.clock.now() - KEPT)

        await forever(forget, SWEEP_S)

    async def _take(self) -> list[LeasedDelivery]:
        try:
            found = await self.deliveries.take(self.clock.now(), LEASE, AT_ONCE)
        except Exception:
            _log.exception("deliveries could not be taken")
            return []
        return [] if isinstance(found, Err) else list(found.value)

    async def _try(self, held: LeasedDelivery) -> None:
        try:
            outcome = await self._outcome(held)
            now = self.clock.now()
            end = settle(outcome, held.attempt, now, self.chance())
            if isinstance(end, GivenUp):
                _log.warning(
                    "event %s for subscription %s is given up: %s",
                    *(held.delivery.event_key, held.delivery.subscription_id, end.reason),
                )
            await self.deliveries.settle(held, end, now)
        except Exception:
            _log.exception("delivery %s broke; it is tried again once its lease is over", held.id)

    async def _outcome(self, held: LeasedDelivery) -> DeliveryOutcome:
        now = self.clock.now()
        opened: list[str] = []
        for sealed in held.secrets.valid_at(now):
            secret = self.secrets.open(sealed, held.delivery.subscription_id)
            if isinstance(secret, Err):
                return NotDelivered(str(secret.error.message))
            opened.append(secret.value)
        message = WebhookMessage(held.delivery.event_key, held.delivery.body, now, tuple(opened))
        return await self.sink.deliver(held.endpoint, message)


async def _some_end(running: set[asyncio.Task[None]]) -> set[asyncio.Task[None]]:
    """Wait a moment, or until one ends; return those that go on."""
    if not running:
        await asyncio.sleep(IDLE_S)
        return running
    _, going_on = await asyncio.wait(running, timeout=IDLE_S, return_when=asyncio.FIRST_COMPLETED)
    return going_on
