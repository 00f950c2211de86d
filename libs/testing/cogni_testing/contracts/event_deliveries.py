"""What every `EventDeliveriesPort` promises."""

from abc import ABC, abstractmethod
from datetime import datetime, timedelta

from cogni_domain.events_outgoing import (
    Delivered,
    GivenUp,
    LeasedDelivery,
    NewDelivery,
    TryAgain,
)
from cogni_domain.ports.event_deliveries import EventDeliveriesPort
from cogni_domain.ports.event_subscriptions import EventSubscriptionsPort
from cogni_domain.subscriptions import SubscriptionState
from cogni_kernel import ConflictError, NotFoundError
from cogni_testing.assertions import err, ok
from cogni_testing.contracts.event_subscriptions import ACME, GLOBEX, a_request, did
from cogni_testing.doubles import START

LEASE = timedelta(seconds=60)
HOUR = timedelta(hours=1)


def a_delivery(subscription: str, number: int) -> NewDelivery:
    """Return one event for a subscription of acme's."""
    return NewDelivery(
        subscription, ACME, f"e{number}", "ToolFailed", f'{{"id":"e{number}\u00ef"}}'
    )


class EventDeliveriesContract(ABC):
    """Workers of several processes bring events to endpoints; time is what the test says."""

    @abstractmethod
    async def make_subscriptions(self) -> EventSubscriptionsPort:
        """Return the store of subscriptions."""

    @abstractmethod
    async def make_deliveries(self) -> EventDeliveriesPort:
        """Return deliveries for them; a second call in one test returns another over the same rows."""

    async def waiting(self, count: int, *subscriptions: str) -> EventDeliveriesPort:
        """Return a store with `count` events for each of these active subscriptions."""
        store = await self.make_subscriptions()
        deliveries = await self.make_deliveries()
        for identity in subscriptions:
            ok(await store.ask(a_request(identity), did("ada")))
            ok(await store.confirm(identity, did("bo")))
            new = [a_delivery(identity, n) for n in range(count)]
            assert ok(await deliveries.add(new, START)) == count
        return deliveries

    async def taken(
        self, deliveries: EventDeliveriesPort, at: datetime = START, at_once: int = 9
    ) -> list[LeasedDelivery]:
        """Return what a worker gets."""
        return list(ok(await deliveries.take(at, LEASE, at_once)))

    async def test_a_delivery_comes_out_as_it_went_in(self) -> None:
        deliveries = await self.waiting(1, "s1")

        [held] = await self.taken(deliveries)

        assert (held.delivery, held.attempt) == (a_delivery("s1", 0), 1)
        assert held.endpoint == a_request("s1").endpoint
        assert held.secrets.valid_at(START) == ("sealed s1",)

    async def test_a_subscription_gets_an_event_once(self) -> None:
        deliveries = await self.waiting(2, "s1")
        [first, _] = await self.taken(deliveries)
        assert ok(await deliveries.settle(first, Delivered(200), START))

        assert ok(await deliveries.add([a_delivery("s1", n) for n in range(3)], START)) == 1

        [fresh] = await self.taken(deliveries)
        assert fresh.delivery.event_key == "e2"

    async def test_all_hands_together_have_no_more_than_so_many_of_one(self) -> None:
        deliveries = await self.waiting(5, "s1", "s2")

        first = await self.taken(deliveries, at_once=2)
        second = await self.taken(await self.make_deliveries(), at_once=3)

        held = [h.delivery.subscription_id for h in [*first, *second]]
        assert (held.count("s1"), held.count("s2")) == (3, 3)
        assert len({h.id for h in [*first, *second]}) == 6

    async def test_a_lease_that_is_over_is_taken_over(self) -> None:
        deliveries = await self.waiting(1, "s1")
        [lost] = await self.taken(deliveries)
        assert await self.taken(deliveries, START + LEASE / 2) == []

        [held] = await self.taken(deliveries, START + LEASE)

        assert held.attempt == 2
        assert not ok(await deliveries.settle(lost, Delivered(200), START + LEASE))
        assert ok(await deliveries.settle(held, Delivered(200), START + LEASE))
        assert await self.taken(deliveries, START + HOUR) == []

    async def test_what_failed_is_due_when_it_should_be(self) -> None:
        deliveries = await self.waiting(1, "s1")
        [held] = await self.taken(deliveries)

        assert ok(await deliveries.settle(held, TryAgain(START + HOUR, "answered 500"), START))

        assert await self.taken(deliveries, START + HOUR - LEASE) == []
        [again] = await self.taken(deliveries, START + HOUR)
        assert (again.delivery, again.attempt) == (held.delivery, 2)

    async def test_an_endpoint_that_asks_for_it_is_left_alone(self) -> None:
        deliveries = await self.waiting(3, "s1", "s2")
        [held, *_] = await self.taken(deliveries, at_once=1)

        pause = TryAgain(START + HOUR, "answered 429", pause=True)
        ok(await deliveries.settle(held, pause, START))

        paused = held.delivery.subscription_id
        later = await self.taken(deliveries, START + HOUR / 2)
        assert {h.delivery.subscription_id for h in later} == {"s1", "s2"} - {paused}
        assert len(await self.taken(deliveries, START + HOUR, at_once=99)) == 6

    async def test_an_endpoint_that_is_gone_ends_its_subscription(self) -> None:
        deliveries = await self.waiting(3, "s1", "s2")
        held = {h.delivery.subscription_id: h for h in await self.taken(deliveries, at_once=1)}

        ok(await deliveries.settle(held["s1"], GivenUp("gone", disable=True), START))

        found = ok(await (await self.make_subscriptions()).get(ACME, "s1"))
        assert found.state is SubscriptionState.DISABLED
        assert len(ok(await deliveries.dead(ACME, "s1", 9))) == 3
        later = await self.taken(deliveries, START + HOUR)
        assert {h.delivery.subscription_id for h in later} == {"s2"}

    async def test_what_was_given_up_is_tried_again_when_a_person_says_so(self) -> None:
        deliveries = await self.waiting(2, "s1")
        for held in await self.taken(deliveries):
            ok(await deliveries.settle(held, GivenUp("answered 500"), START))
        assert await self.taken(deliveries, START + HOUR) == []
        dead = ok(await deliveries.dead(ACME, "s1", 9))
        assert [(d.event_key, d.type, d.attempts, d.reason) for d in dead] == [
            ("e1", "ToolFailed", 1, "answered 500"),
            ("e0", "ToolFailed", 1, "answered 500"),
        ]

        assert ok(await deliveries.redrive(ACME, "s1", ["e0"], did("ada"))) == 1

        [again] = await self.taken(deliveries)
        assert (again.delivery, again.attempt) == (a_delivery("s1", 0), 1)
        assert ok(await deliveries.redrive(ACME, "s1", [], did("ada"))) == 1
        assert ok(await deliveries.redrive(ACME, "s1", [], did("ada"))) == 0

    async def test_only_an_own_and_active_subscription_is_redriven(self) -> None:
        deliveries = await self.waiting(1, "s1")
        [held] = await self.taken(deliveries)
        ok(await deliveries.settle(held, GivenUp("gone", disable=True), START))

        err(await deliveries.redrive(GLOBEX, "s1", [], did("eve", tenant=GLOBEX)), NotFoundError)
        err(await deliveries.redrive(ACME, "s1", [], did("ada")), ConflictError)
        assert ok(await deliveries.dead(GLOBEX, "s1", 9)) == []

    async def test_nothing_more_goes_to_a_subscription_that_was_removed(self) -> None:
        deliveries = await self.waiting(2, "s1")
        [held] = await self.taken(deliveries, at_once=1)

        ok(await (await self.make_subscriptions()).remove("s1", did("ada")))

        assert not ok(await deliveries.settle(held, Delivered(200), START))
        assert await self.taken(deliveries, START + HOUR) == []

    async def test_only_what_was_delivered_long_ago_is_forgotten(self) -> None:
        deliveries = await self.waiting(3, "s1")
        done, dead, _ = await self.taken(deliveries)
        ok(await deliveries.settle(done, Delivered(200), START))
        ok(await deliveries.settle(dead, GivenUp("answered 500"), START))

        assert ok(await deliveries.forget(START)) == 0
        assert ok(await deliveries.forget(START + HOUR)) == 1

        assert len(ok(await deliveries.dead(ACME, "s1", 9))) == 1
        assert len(await self.taken(deliveries, START + HOUR)) == 1
