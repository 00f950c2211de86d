"""Who asks: resolved by the host's own authentication, never by anything that a model wrote."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum

from cogni_domain.access.tokens import (
    CONVERSATION,
    EVERYONE,
    ReaderToken,
    attribute_tokens,
    group_token,
    user_token,
)
from cogni_kernel import ConversationId, GrantKey, PrincipalId, TenantId


class PrincipalKind(Enum):
    """A person, a machine with authority of its own, or a machine acting for a person."""

    HUMAN = "human"
    MACHINE = "machine"
    DELEGATED = "delegated"


class MembershipState(Enum):
    """What is known of a principal's groups. UNKNOWN denies."""

    KNOWN = "known"
    STALE = "stale"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Memberships:
    """A principal's groups at one version of the directory; each `authority/name`."""

    groups: frozenset[str]
    state: MembershipState
    version: int

    @property
    def counted(self) -> frozenset[str]:
        """The groups that something may be given by: none where they are unknown."""
        return frozenset() if self.state is MembershipState.UNKNOWN else self.groups


@dataclass(frozen=True, slots=True)
class Principal:
    """Whoever asks, as of this request.

    Attributes:
        id: Within the tenant.
        tenant_id: None where it could not be resolved; such a principal is refused everywhere.
        kind: DELEGATED exactly where `on_behalf_of` is set.
        grants: What may be called, implied ones included; of both, for a delegated one.
        memberships: The groups, and how sure they are.
        attributes: What readers can be selected by, like `region`.
        on_behalf_of: The person for whom a delegated machine acts; may read and do no more than both may.
        display_name: For people.

    Source:
        COGNI.BUILD spec, package domain, "Principal"; DESIGN D2, D24.
    """

    id: PrincipalId
    tenant_id: TenantId | None
    kind: PrincipalKind
    grants: frozenset[GrantKey]
    memberships: Memberships
    attributes: Mapping[str, str] = field(default_factory=dict)
    on_behalf_of: "Principal | None" = None
    display_name: str = ""

    def __post_init__(self) -> None:
        if (self.kind is PrincipalKind.DELEGATED) != (self.on_behalf_of is not None):
            raise ValueError("a delegated principal acts for somebody, and only it does")

    @property
    def person(self) -> PrincipalId:
        """Who decides on what is proposed: a delegated machine's person, who need not be there now."""
        return self.id if self.on_behalf_of is None else self.on_behalf_of.id

    @property
    def owner(self) -> PrincipalId:
        """Under what name runs and conversations are kept: a machine's are apart for each of its persons."""
        if self.on_behalf_of is None:
            return self.id
        return PrincipalId(f"{self.id} for {self.on_behalf_of.id}")

    def has_grant(self, key: GrantKey) -> bool:
        """Tell whether this principal may use what `key` guards."""
        return key in self.grants

    def within(self, conversation: ConversationId) -> "Principal":
        """Return this principal in a conversation, where what was added to it may be read.

        It is for the caller to know that the conversation is this principal's own.
        """
        return replace(self, attributes={**self.attributes, CONVERSATION: str(conversation)})

    def is_machine(self) -> bool:
        """Tell whether no person is present to confirm anything."""
        return self.kind is PrincipalKind.MACHINE

    def parties(self) -> tuple["Principal", ...]:
        """Return everybody whose authority counts: the person too, for a delegated machine."""
        return (self,) if self.on_behalf_of is None else (self, self.on_behalf_of)

    def own_tokens(self) -> frozenset[ReaderToken]:
        """Return the tokens of this party alone, without those of compound rules."""
        groups = frozenset(map(group_token, self.memberships.groups))
        return groups | attribute_tokens(self.attributes) | {user_token(self.id), EVERYONE}

    def tokens(self) -> frozenset[ReaderToken]:
        """Return the tokens that every party holds."""
        return frozenset.intersection(*(party.own_tokens() for party in self.parties()))
