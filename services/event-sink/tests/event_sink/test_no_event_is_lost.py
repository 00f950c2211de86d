"""Thousands of events to endpoints that fail three times in ten: none is lost, all can be verified."""

import os
import random
from collections import defaultdict
from datetime import UTC, datetime, timedelta
from typing import Any

import time_machine
from standardwebhooks import Webhook

from cogni_application.events.delivering import DeliveryWorker
from cogni_application.events.fan_out import FanOut
from cogni_application.events.relay import OutboxRelay
from cogni_domain.events import BudgetThreshold, Event, ToolFailed
from cogni_domain.ports.event_outbox import EventOutboxPort
from cogni_domain.ports.event_secrets import EventSecretsPort
from cogni_domain.ports.event_sink import EventSinkPort
from cogni_domain.ports.event_subscriptions import EventSubscriptionsPort
from cogni_kernel import RunRef, TenantId
from cogni_testing import FrozenClock, ok
from tests.servers.endpoints import Answer, Received, endpoints

ACME = TenantId("acme")
EVENTS = int(os.environ.get("COGNI_EVENTS", "1000"))
ENDPOINTS = 10
STEP = timedelta(minutes=20)
MOST_STEPS = 3 * 24 * 90
"""Ninety days: endpoints that ask for hours of peace again and again take longer than three."""
FAILURES = [
    *(Answer(500), Answer(502), Answer(504), Answer(404), Answer(302, {"location": "/"})),
    *(Answer(429, {"retry-after": "60"}), Answer(503, {"retry-after": "7200"}), Answer(reset=True)),
]


class Failing:
    """Fails three times in ten, each time in another way; keeps what came and what it took."""

    def __init__(self, seed: int) -> None:
        self.chances = random.Random(seed)
        self.came: list[Received] = []
        self.took: list[str] = []

    def __call__(self, request: Received) -> Answer:
        self.came.append(request)
        if self.chances.random() < 0.3:
            return self.chances.choice(FAILURES)
        self.took.append(request.headers["webhook-id"])
        return Answer()


def an_event(n: int) -> Event:
    if n % 2:
        return BudgetThreshold(ACME, f"w{n}", n % 101)
    return ToolFailed(ACME, RunRef(f"r{n}"), f"c{n}", "book_room", "Upstream")


def verified(request: Received, secret: str) -> dict[str, Any]:
    """Return the event, as the public library reads it at the moment when it came."""
    moment = datetime.fromtimestamp(int(request.headers["webhook-timestamp"]), UTC)
    with time_machine.travel(moment, tick=False):
        found: dict[str, Any] = Webhook(secret).verify(request.body, dict(request.headers))
    return found


async def test_none_is_lost_and_all_are_verified(outside: Any) -> None:
    clock = FrozenClock()
    house = outside(clock)
    resolve = house.container.resolve
    fan_out = FanOut(resolve(EventSubscriptionsPort), house.deliveries, clock)
    relay = OutboxRelay(resolve(EventOutboxPort), fan_out.publish, clock, "a")
    worker = DeliveryWorker(
        house.deliveries,
        resolve(EventSecretsPort),
        resolve(EventSinkPort),
        clock,
        random.Random(1).random,
    )
    failing = [Failing(n) for n in range(ENDPOINTS)]
    async with endpoints() as server:
        made = [
            await house.subscribed(server.answering(f), "ToolFailed", "BudgetThreshold")
            for f in failing
        ]
        share = EVENTS // ENDPOINTS
        await house.write([an_event(n) for n in range(share)])
        await relay.relay_off()
        for _ in range(MOST_STEPS):
            await worker.work_off()
            for subscription, _ in made:
                if ok(await house.deliveries.dead(ACME, subscription, 1)):
                    ok(await house.service.redrive(house.administrator("ada"), subscription))
            if await house.waiting() == 0:
                break
            clock.advance(STEP)

    bodies: dict[str, set[bytes]] = defaultdict(set)
    attempts = 0
    for endpoint, (_, secret) in zip(failing, made, strict=True):
        assert len(set(endpoint.took)) == share
        assert len(endpoint.took) == share
        for request in endpoint.came:
            event = verified(request, secret)
            assert event["id"] == request.headers["webhook-id"]
            assert len(request.body) <= 2048
            bodies[event["id"]].add(request.body)
            attempts += 1
    assert len(bodies) == share
    assert {len(each) for each in bodies.values()} == {1}
    assert attempts > share * ENDPOINTS * 1.3
