"""What every `EventOutboxPort` promises."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from datetime import timedelta

from cogni_domain.events import BudgetThreshold, Event, event_payload, idempotency_key
from cogni_domain.ports.event_outbox import EventOutboxPort
from cogni_kernel import TenantId
from cogni_testing.assertions import ok
from cogni_testing.doubles import START

LEASE = timedelta(seconds=30)


def an_event(number: int) -> BudgetThreshold:
    """Return one of many different events."""
    return BudgetThreshold(TenantId("acme"), f"day-{number}", number % 101)


class EventOutboxContract(ABC):
    """One owner relays at a time; what it marks does not come again."""

    @abstractmethod
    async def make_outbox(self) -> EventOutboxPort:
        """Return an outbox; a second call in one test returns another over the same events."""

    @abstractmethod
    async def write(self, events: Sequence[Event]) -> None:
        """Commit events, as what causes them does; they happened at `START`."""

    async def held(self) -> EventOutboxPort:
        """Return an outbox that `a` holds, with three events."""
        await self.write([an_event(n) for n in range(3)])
        outbox = await self.make_outbox()
        assert ok(await outbox.hold("a", START, LEASE))
        return outbox

    async def test_events_come_out_as_they_happened_in_order(self) -> None:
        outbox = await self.held()

        found = ok(await outbox.unpublished(2))

        assert [e.payload for e in found] == [event_payload(an_event(n)) for n in range(2)]
        assert [e.key for e in found] == [idempotency_key(an_event(n)) for n in range(2)]
        assert {(str(e.tenant_id), e.happened_at, e.type) for e in found} == {
            ("acme", START, "BudgetThreshold")
        }

    async def test_what_is_published_does_not_come_again(self) -> None:
        outbox = await self.held()
        first, second, third = ok(await outbox.unpublished(9))

        assert ok(await outbox.published("a", [first.number, third.number], START))

        assert ok(await outbox.unpublished(9)) == [second]

    async def test_what_is_refused_does_not_come_again(self) -> None:
        outbox = await self.held()
        first, *others = ok(await outbox.unpublished(9))

        assert ok(await outbox.refuse("a", first.number, "too large", START))

        assert ok(await outbox.unpublished(9)) == others

    async def test_only_one_owner_holds_it(self) -> None:
        outbox, other = await self.held(), await self.make_outbox()

        assert not ok(await other.hold("b", START + LEASE / 2, LEASE))
        assert ok(await outbox.hold("a", START + LEASE / 2, LEASE))
        assert not ok(await other.hold("b", START + LEASE, LEASE))
        assert ok(await other.hold("b", START + LEASE * 2, LEASE))

    async def test_an_owner_that_lost_it_marks_nothing(self) -> None:
        outbox, other = await self.held(), await self.make_outbox()
        found = ok(await outbox.unpublished(9))
        assert ok(await other.hold("b", START + LEASE, LEASE))

        assert not ok(await outbox.published("a", [found[0].number], START))
        assert not ok(await outbox.refuse("a", found[1].number, "too large", START))

        assert ok(await outbox.unpublished(9)) == found
