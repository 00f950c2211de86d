"""Deciding who is told: two administrators, and never anything that a model wrote."""

import base64
import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from cogni_domain.access.principal import Principal, PrincipalKind
from cogni_domain.audit import AuditFact
from cogni_domain.events_outgoing import DeadDelivery
from cogni_domain.ports.clock import ClockPort
from cogni_domain.ports.event_deliveries import EventDeliveriesPort
from cogni_domain.ports.event_secrets import EventSecretsPort
from cogni_domain.ports.event_sink import EventSinkPort
from cogni_domain.ports.event_subscriptions import EventSubscriptionsPort
from cogni_domain.subscriptions import (
    ADMINISTER_EVENTS,
    TWO_KEYS,
    SealedSecrets,
    Subscription,
    SubscriptionState,
)
from cogni_domain.subscriptions_endpoint import Endpoint
from cogni_kernel import (
    Err,
    HumanText,
    InvalidArgumentError,
    NotPermittedError,
    Ok,
    Result,
    TenantId,
)

MAX_DEAD = 100
NOT_YOURS = HumanText("Only an administrator of events can do this.")

Asked: TypeAlias = tuple[Subscription, str | None]
"""A subscription with its secret; None where that was shown before."""


@dataclass(frozen=True, slots=True)
class SubscriptionService:
    """Every change is an administrator's own, confirmed by another where it lets more out, and audited.

    A secret is returned once, by the call that makes it, and kept encrypted.

    Attributes:
        new_id: Draws the id of a subscription that is asked for without a key.
        new_secret: Draws 32 bytes that nobody can guess.

    Source:
        COGNI.BUILD spec, package ports, "EventSinkPort".
    """

    subscriptions: EventSubscriptionsPort
    deliveries: EventDeliveriesPort
    secrets: EventSecretsPort
    sink: EventSinkPort
    clock: ClockPort
    new_id: Callable[[], str]
    new_secret: Callable[[], bytes]

    async def ask(
        self, by: Principal, url: str, types: frozenset[str], key: str | None = None
    ) -> Result[Asked]:
        """Ask that an endpoint be told of events of some types; nothing is sent before another confirms.

        Args:
            key: Of a call that may be repeated: the second time nothing is asked, and no secret shown.

        Errors:
            NotPermittedError: `by` is no person who administers events.
            InvalidArgumentError: The address or a type cannot be; `detail["field"]` names which.
            ConflictError: There are too many already.
        """
        tenant = _administered(by)
        if isinstance(tenant, Err):
            return tenant
        identity = self.new_id() if key is None else _id_of(tenant.value, by, key)
        secret = self._new_secret()
        made = self._requested(by, tenant.value, identity, url, types, secret)
        if isinstance(made, Err):
            return made
        wanted = made.value
        fact = self._fact(
            by,
            tenant.value,
            "asked",
            identity,
            endpoint=wanted.endpoint.origin,
            types=" ".join(sorted(types)),
        )
        written = await self.subscriptions.ask(wanted, fact)
        if isinstance(written, Err):
            return written
        if not written.value:
            known = await self.subscriptions.get(tenant.value, identity)
            return known.map(lambda found: (found, None))
        return Ok((wanted, secret))

    async def confirm(self, by: Principal, subscription: str) -> Result[Subscription]:
        """Have events sent from now on. Errors as of the port; NotPermittedError as above."""
        fact = self._change(by, "confirmed", subscription)
        if isinstance(fact, Err):
            return fact
        return await self.subscriptions.confirm(subscription, fact.value)

    async def decline(self, by: Principal, subscription: str) -> Result[Subscription]:
        """Decide that it shall not be; the one who asked may, too."""
        fact = self._change(by, "declined", subscription)
        if isinstance(fact, Err):
            return fact
        return await self.subscriptions.decline(subscription, fact.value)

    async def remove(self, by: Principal, subscription: str) -> Result[Subscription]:
        """End it; one administrator is enough to let less out."""
        fact = self._change(by, "removed", subscription)
        if isinstance(fact, Err):
            return fact
        return await self.subscriptions.remove(subscription, fact.value)

    async def rotate(self, by: Principal, subscription: str) -> Result[Asked]:
        """Sign with a new secret; the former one signs beside it for `TWO_KEYS`."""
        fact = self._change(by, "rotated the secret of", subscription)
        if isinstance(fact, Err):
            return fact
        secret = self._new_secret()
        sealed = self.secrets.seal(secret, subscription)
        until = fact.value.at + TWO_KEYS
        changed = await self.subscriptions.rotate(subscription, sealed, until, fact.value)
        return changed.map(lambda found: (found, secret))

    async def all(self, by: Principal) -> Result[Sequence[Subscription]]:
        """Return every subscription of the administrator's tenant, the oldest first."""
        tenant = _administered(by)
        if isinstance(tenant, Err):
            return tenant
        return await self.subscriptions.of_tenant(tenant.value)

    async def dead(self, by: Principal, subscription: str) -> Result[Sequence[DeadDelivery]]:
        """Return the latest deliveries that were given up."""
        tenant = _administered(by)
        if isinstance(tenant, Err):
            return tenant
        known = await self.subscriptions.get(tenant.value, subscription)
        if isinstance(known, Err):
            return known
        return await self.deliveries.dead(tenant.value, subscription, MAX_DEAD)

    async def redrive(
        self, by: Principal, subscription: str, keys: Sequence[str] = ()
    ) -> Result[int]:
        """Have dead deliveries tried again, all of them where none is named; return how many."""
        fact = self._change(by, "redrove", subscription)
        if isinstance(fact, Err):
            return fact
        return await self.deliveries.redrive(fact.value.tenant_id, subscription, keys, fact.value)

    def _requested(
        self,
        by: Principal,
        tenant: TenantId,
        identity: str,
        url: str,
        types: frozenset[str],
        secret: str,
    ) -> Result[Subscription]:
        try:
            endpoint = Endpoint(url)
        except ValueError as error:
            return _wrong("url", str(error))
        refusal = self.sink.why_not(endpoint)
        if refusal is not None:
            return _wrong("url", refusal)
        now = self.clock.now()
        sealed = SealedSecrets(self.secrets.seal(secret, identity))
        state = SubscriptionState.REQUESTED
        try:
            return Ok(
                Subscription(identity, tenant, endpoint, types, state, by.id, now, now, sealed)
            )
        except ValueError as error:
            return _wrong("types", str(error))

    def _change(self, by: Principal, action: str, subscription: str) -> Result[AuditFact]:
        tenant = _administered(by)
        return tenant.map(lambda found: self._fact(by, found, action, subscription))

    def _fact(
        self, by: Principal, tenant: TenantId, action: str, subscription: str, **facts: str
    ) -> AuditFact:
        subject = f"event subscription {subscription}"
        return AuditFact(tenant, self.clock.now(), by.id, action, subject, facts)

    def _new_secret(self) -> str:
        return f"whsec_{base64.b64encode(self.new_secret()).decode()}"


def _administered(by: Principal) -> Result[TenantId]:
    """Return whose events this principal administers: a person in person, never a machine nor one for another."""
    if by.tenant_id is None or by.kind is not PrincipalKind.HUMAN:
        return Err(NotPermittedError(NOT_YOURS))
    if not by.has_grant(ADMINISTER_EVENTS.key):
        return Err(NotPermittedError(NOT_YOURS))
    return Ok(by.tenant_id)


def _id_of(tenant: TenantId, by: Principal, key: str) -> str:
    named = "\0".join((str(tenant), str(by.id), key))
    return hashlib.sha256(named.encode()).hexdigest()[:32]


def _wrong(field: str, message: str) -> Err:
    return Err(InvalidArgumentError(HumanText(f"{field}: {message}."), detail={"field": field}))
