"""Ten attempts over three days, on a clock that a test moves."""

import asyncio
import json
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from cogni_domain.events import BudgetThreshold
from cogni_domain.events_outgoing import (
    Delivered,
    DeliveryOutcome,
    EndpointGone,
    NotDelivered,
    WebhookMessage,
)
from cogni_domain.ports.event_sink import EventSinkPort
from cogni_domain.subscriptions import SubscriptionState
from cogni_domain.subscriptions_endpoint import Endpoint
from cogni_kernel import TenantId
from cogni_testing.assertions import ok

ACME = TenantId("acme")
MINUTE = timedelta(minutes=1)


async def published(house: Any, count: int, *hosts: str) -> Sequence[tuple[str, str]]:
    """Subscribe hosts, then publish so many events."""
    made = [await house.subscribed(host, "BudgetThreshold") for host in hosts]
    await house.write(*(BudgetThreshold(ACME, f"w{n}", n % 100) for n in range(count)))
    await house.relay().relay_off()
    return made


async def three_days(house: Any, step: timedelta = 10 * MINUTE) -> int:
    """Let four days pass; return how many attempts were made."""
    attempts, worker = 0, house.worker()
    for _ in range(int(timedelta(days=4) / step)):
        attempts += await worker.work_off()
        house.clock.advance(step)
    return attempts


async def test_the_same_id_and_bytes_go_out_on_every_attempt(house: Any) -> None:
    [(subscription, _)] = await published(house, 1, "hooks.example")
    house.sink.outcome = lambda _, __: NotDelivered("answered 500")

    assert await three_days(house) == 10

    sent = [message for _, message in house.sink.sent]
    assert len({(m.id, m.body) for m in sent}) == 1
    assert json.loads(sent[0].body)["id"] == sent[0].id
    assert len({m.at for m in sent}) == 10
    [dead] = ok(await house.service.dead(house.ada, subscription))
    assert (dead.attempts, dead.reason) == (10, "answered 500")


async def test_a_dead_letter_is_tried_again_when_an_administrator_says_so(house: Any) -> None:
    [(subscription, _)] = await published(house, 2, "hooks.example")
    house.sink.outcome = lambda _, __: NotDelivered("answered 500")
    await three_days(house)
    first = house.sink.sent[0][1]
    house.sink.sent.clear()
    house.sink.outcome = lambda _, __: Delivered(200)

    assert ok(await house.service.redrive(house.ada, subscription, [first.id])) == 1
    assert await house.worker().work_off() == 1

    [(_, again)] = house.sink.sent
    assert (again.id, again.body) == (first.id, first.body)
    assert len(ok(await house.service.dead(house.ada, subscription))) == 1


async def test_an_endpoint_that_comes_back_gets_everything(house: Any) -> None:
    await published(house, 20, "hooks.example")
    back = house.clock.now() + timedelta(hours=30)
    house.sink.outcome = lambda _, m: (
        Delivered(200) if m.at >= back else NotDelivered("not reached")
    )

    await three_days(house)

    got = [m.id for _, m in house.sink.sent if m.at >= back]
    assert len(got) == len(set(got)) == 20


async def test_gone_disables_the_subscription_and_nothing_more_is_sent(house: Any) -> None:
    [(subscription, _), _] = await published(house, 9, "gone.example", "good.example")
    house.sink.outcome = lambda e, _: EndpointGone() if e.host == "gone.example" else Delivered(200)

    await three_days(house)

    found = {s.id: s.state for s in ok(await house.service.all(house.ada))}
    assert found[subscription] is SubscriptionState.DISABLED
    hosts = [host for host, _ in house.sink.sent]
    assert hosts.count("gone.example") <= 4
    assert hosts.count("good.example") == 9


async def test_retry_after_is_honoured_for_all_that_goes_there(house: Any) -> None:
    await published(house, 3, "busy.example")
    house.sink.outcome = lambda _, __: NotDelivered("answered 429", timedelta(hours=3))
    worker = house.worker()

    assert await worker.work_off() == 3
    house.clock.advance(timedelta(hours=3) - MINUTE)
    await house.write(BudgetThreshold(ACME, "later", 1))
    await house.relay().relay_off()
    assert await worker.work_off() == 0
    house.clock.advance(2 * MINUTE)
    assert await worker.work_off() == 4


async def test_both_secrets_sign_while_one_replaces_the_other(house: Any) -> None:
    [(subscription, first)] = await published(house, 1, "hooks.example")
    _, second = ok(await house.service.rotate(house.ada, subscription))

    await house.worker().work_off()
    house.clock.advance(timedelta(hours=24))
    await house.write(BudgetThreshold(ACME, "later", 1))
    await house.relay().relay_off()
    await house.worker().work_off()

    assert [m.secrets for _, m in house.sink.sent] == [(second, first), (second,)]


class Hanging(EventSinkPort):
    """One endpoint never answers; the others do at once."""

    def __init__(self) -> None:
        self.delivered: list[str] = []
        self.waiting = 0
        self.most_waiting = 0
        self.go_on = asyncio.Event()

    def why_not(self, endpoint: Endpoint) -> str | None:
        return None

    async def deliver(self, endpoint: Endpoint, message: WebhookMessage) -> DeliveryOutcome:
        if endpoint.host == "slow.example":
            self.waiting += 1
            self.most_waiting = max(self.most_waiting, self.waiting)
            await self.go_on.wait()
            self.waiting -= 1
        self.delivered.append(endpoint.host)
        return Delivered(200)


async def test_a_slow_endpoint_slows_nobody_else(house: Any) -> None:
    others = [f"h{n}.example" for n in range(5)]
    await published(house, 30, "slow.example", *others)
    sink, draining = Hanging(), asyncio.Event()

    working = asyncio.create_task(house.worker(sink).work(draining))
    async with asyncio.timeout(20):
        while len(sink.delivered) < 30 * len(others):
            await asyncio.sleep(0.01)

    assert sink.delivered.count("slow.example") == 0
    assert sink.most_waiting == 4
    draining.set()
    await asyncio.sleep(0.1)
    assert not working.done()
    sink.go_on.set()
    await working
    assert sink.delivered.count("slow.example") == 4


async def test_an_attempt_that_breaks_is_made_again_and_ends_no_worker(house: Any) -> None:
    await published(house, 1, "hooks.example")
    answers = [RuntimeError("a bug")]

    def break_once(_: Endpoint, __: WebhookMessage) -> DeliveryOutcome:
        if answers:
            raise answers.pop()
        return Delivered(200)

    house.sink.outcome = break_once
    worker = house.worker()
    assert await worker.work_off() == 1
    house.clock.advance(2 * MINUTE)
    assert await worker.work_off() == 1
    house.clock.advance(2 * MINUTE)
    assert await worker.work_off() == 0


async def test_a_secret_that_cannot_be_opened_sends_nothing(house: Any) -> None:
    [(subscription, _)] = await published(house, 1, "hooks.example")
    stolen = house.secrets.seal("whsec_AAAA", "another subscription")
    fact = house.service._fact(house.ada, ACME, "did", subscription)
    ok(await house.subscriptions.rotate(subscription, stolen, house.clock.now(), fact))

    await three_days(house)

    assert house.sink.sent == []
    [dead] = ok(await house.service.dead(house.ada, subscription))
    assert "cannot be opened" in dead.reason
