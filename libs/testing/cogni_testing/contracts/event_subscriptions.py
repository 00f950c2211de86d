"""What every `EventSubscriptionsPort` promises."""

import asyncio
from abc import ABC, abstractmethod
from datetime import datetime, timedelta

from cogni_domain.audit import AuditFact
from cogni_domain.ports.audit_log import AuditLogPort
from cogni_domain.ports.event_subscriptions import EventSubscriptionsPort
from cogni_domain.subscriptions import (
    CONFIRM_WITHIN,
    MAX_SUBSCRIPTIONS,
    SealedSecrets,
    Subscription,
    SubscriptionState,
)
from cogni_domain.subscriptions_endpoint import Endpoint
from cogni_kernel import ConflictError, NotFoundError, Ok, PrincipalId, TenantId
from cogni_testing.assertions import err, ok
from cogni_testing.doubles import START

ACME, GLOBEX = TenantId("acme"), TenantId("globex")


def a_request(identity: str = "s1", tenant: TenantId = ACME, url: str = "") -> Subscription:
    """Return a subscription that ada asked for."""
    return Subscription(
        id=identity,
        tenant_id=tenant,
        endpoint=Endpoint(url or f"https://{identity}.example/hooks"),
        types=frozenset({"ToolFailed", "BudgetThreshold"}),
        state=SubscriptionState.REQUESTED,
        requested_by=PrincipalId("ada"),
        requested_at=START,
        since=START,
        secrets=SealedSecrets(f"sealed {identity}"),
    )


def did(
    actor: str, action: str = "did", tenant: TenantId = ACME, at: datetime = START
) -> AuditFact:
    """Return what goes into the audit log with a change."""
    return AuditFact(tenant, at, PrincipalId(actor), action, "a subscription")


class EventSubscriptionsContract(ABC):
    """Two persons, one arbiter, and a record of every change."""

    @abstractmethod
    async def make_subscriptions(self) -> EventSubscriptionsPort:
        """Return the store; a second call in one test returns another over the same rows."""

    @abstractmethod
    async def make_log(self) -> AuditLogPort:
        """Return the audit log of the same store."""

    async def asked(self, *identities: str) -> EventSubscriptionsPort:
        """Return a store with these requests of ada's."""
        store = await self.make_subscriptions()
        for identity in identities:
            assert ok(await store.ask(a_request(identity), did("ada", "asked")))
        return store

    async def actions(self) -> list[tuple[str, str]]:
        """Return who did what."""
        entries = ok(await (await self.make_log()).entries(ACME))
        return [(str(entry.fact.actor), entry.fact.action) for entry in entries]

    async def test_a_request_comes_out_as_it_went_in(self) -> None:
        store = await self.asked("s1")

        assert ok(await store.get(ACME, "s1")) == a_request("s1")
        assert await self.actions() == [("ada", "asked")]

    async def test_another_tenants_subscription_is_not_there(self) -> None:
        store = await self.asked("s1")

        err(await store.get(GLOBEX, "s1"), NotFoundError)
        err(await store.confirm("s1", did("bo", tenant=GLOBEX)), NotFoundError)
        err(await store.remove("s1", did("bo", tenant=GLOBEX)), NotFoundError)

    async def test_asking_again_changes_nothing(self) -> None:
        store = await self.asked("s1")

        other = a_request("s1", url="https://elsewhere.example/")
        assert not ok(await store.ask(other, did("ada", "asked")))

        assert ok(await store.get(ACME, "s1")) == a_request("s1")
        assert await self.actions() == [("ada", "asked")]

    async def test_another_administrator_confirms(self) -> None:
        store = await self.asked("s1")
        at = START + timedelta(hours=1)

        found = ok(await store.confirm("s1", did("bo", "confirmed", at=at)))

        assert (found.state, found.decided_by) == (SubscriptionState.ACTIVE, PrincipalId("bo"))
        assert found.since == at
        assert ok(await store.listening([GLOBEX, ACME])) == [found]
        assert await self.actions() == [("ada", "asked"), ("bo", "confirmed")]

    async def test_nobody_confirms_what_they_asked_for(self) -> None:
        store = await self.asked("s1")

        err(await store.confirm("s1", did("ada")), ConflictError)

        assert ok(await store.listening([ACME])) == []
        assert await self.actions() == [("ada", "asked")]

    async def test_a_request_of_long_ago_is_not_confirmed(self) -> None:
        store = await self.asked("s1")

        late = did("bo", at=START + CONFIRM_WITHIN)
        err(await store.confirm("s1", late), ConflictError)

        assert ok(await store.decline("s1", late)).state is SubscriptionState.DECLINED

    async def test_of_decisions_at_once_one_counts(self) -> None:
        stores = [await self.asked("s1"), *[await self.make_subscriptions() for _ in range(3)]]

        ended = await asyncio.gather(
            stores[0].confirm("s1", did("bo", "confirmed")),
            stores[1].confirm("s1", did("cy", "confirmed")),
            stores[2].decline("s1", did("ada", "declined")),
            stores[3].decline("s1", did("di", "declined")),
        )

        assert len([result for result in ended if isinstance(result, Ok)]) == 1
        assert len(await self.actions()) == 2

    async def test_what_was_declined_or_removed_does_not_come_back(self) -> None:
        store = await self.asked("s1", "s2")
        ok(await store.decline("s1", did("bo")))
        ok(await store.confirm("s2", did("bo")))
        ok(await store.remove("s2", did("ada")))

        for identity in ("s1", "s2"):
            err(await store.confirm(identity, did("cy")), ConflictError)
            err(await store.decline(identity, did("cy")), ConflictError)
            err(await store.remove(identity, did("cy")), ConflictError)
        assert ok(await store.listening([ACME])) == []

    async def test_the_former_secret_signs_beside_the_new_one_for_a_while(self) -> None:
        store = await self.asked("s1")
        err(await store.rotate("s1", "sealed anew", START, did("ada")), ConflictError)
        ok(await store.confirm("s1", did("bo")))
        until = START + timedelta(hours=24)

        secrets = ok(await store.rotate("s1", "sealed anew", until, did("ada"))).secrets

        assert secrets.valid_at(START) == ("sealed anew", "sealed s1")
        assert secrets.valid_at(until) == ("sealed anew",)

    async def test_rotating_again_keeps_the_secret_that_the_endpoint_has(self) -> None:
        store = await self.asked("s1")
        ok(await store.confirm("s1", did("bo")))
        until = START + timedelta(hours=24)
        ok(await store.rotate("s1", "lost", until, did("ada")))

        soon, late = START + timedelta(hours=1), until + timedelta(hours=1)
        again = ok(await store.rotate("s1", "b", soon + timedelta(hours=24), did("ada", at=soon)))
        assert again.secrets.valid_at(until) == ("b", "sealed s1")

        later = ok(await store.rotate("s1", "c", late + timedelta(hours=24), did("ada", at=late)))
        assert later.secrets.valid_at(late) == ("c", "b")

    async def test_a_tenant_has_no_more_than_so_many(self) -> None:
        store = await self.asked(*(f"s{n}" for n in range(MAX_SUBSCRIPTIONS)))

        err(await store.ask(a_request("more"), did("ada")), ConflictError)

        err(await store.get(ACME, "more"), NotFoundError)
        ok(await store.decline("s0", did("ada")))
        assert ok(await store.ask(a_request("more"), did("ada")))
        assert len(ok(await store.of_tenant(ACME))) == MAX_SUBSCRIPTIONS + 1
        assert ok(await store.of_tenant(GLOBEX)) == []
