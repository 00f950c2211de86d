"""Who changed what: entries that are only ever added, each sealed over the one before it."""

import hashlib
import hmac
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from cogni_kernel import PrincipalId, TenantId


@dataclass(frozen=True, slots=True)
class AuditFact:
    """Something that a person did. `facts` are handles and settings, never content."""

    tenant_id: TenantId
    at: datetime
    actor: PrincipalId
    action: str
    subject: str
    facts: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """How far a tenant's chain went at some time. Kept in a second place, it shows a tail that was cut off."""

    number: int
    digest: str


START = Checkpoint(0, "")


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """A fact in its tenant's chain; `number` counts from 1."""

    number: int
    fact: AuditFact
    digest: str

    @property
    def checkpoint(self) -> Checkpoint:
        """Where the chain stood with this entry."""
        return Checkpoint(self.number, self.digest)


@dataclass(frozen=True, slots=True)
class BrokenChain:
    """The first number at which a chain is not what was written."""

    number: int


@dataclass(frozen=True, slots=True)
class AuditSeal:
    """Seals entries under a key that is kept outside the database, so that nobody can write a chain anew.

    Raises:
        ValueError: The key has fewer than 32 bytes.
    """

    key: bytes = field(repr=False)

    def __post_init__(self) -> None:
        if len(self.key) < 32:
            raise ValueError("the key of the audit log has at least 32 bytes")

    def next_entry(self, fact: AuditFact, last: Checkpoint) -> AuditEntry:
        """Return the entry that follows `last`."""
        number = last.number + 1
        return AuditEntry(number, fact, self._digest(number, fact, last.digest))

    def verify(
        self, entries: Iterable[AuditEntry], kept: Checkpoint = START
    ) -> Checkpoint | BrokenChain:
        """Return where the chain stands, or the first number at which it is not what was written.

        Args:
            entries: The whole chain of one tenant, in order.
            kept: Where it stood at some earlier time.
        """
        last = START
        for entry in entries:
            if entry != self.next_entry(entry.fact, last):
                return BrokenChain(last.number + 1)
            last = entry.checkpoint
            if last.number == kept.number and last != kept:
                return BrokenChain(last.number)
        return last if last.number >= kept.number else BrokenChain(last.number + 1)

    def _digest(self, number: int, fact: AuditFact, previous: str) -> str:
        said = [
            number,
            previous,
            str(fact.tenant_id),
            fact.at.astimezone(UTC).isoformat(),
            str(fact.actor),
            fact.action,
            fact.subject,
            sorted(fact.facts.items()),
        ]
        return hmac.new(self.key, json.dumps(said).encode(), hashlib.sha256).hexdigest()
