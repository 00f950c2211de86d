"""What every `AuditLogPort` promises."""

from abc import ABC, abstractmethod

from cogni_domain.audit import START as NOTHING
from cogni_domain.audit import AuditFact, BrokenChain, Checkpoint
from cogni_domain.ports.audit_log import AuditLogPort
from cogni_kernel import PrincipalId, TenantId
from cogni_testing.assertions import ok
from cogni_testing.doubles import START

ACME, GLOBEX = TenantId("acme"), TenantId("globex")


def a_fact(
    subject: str, tenant: TenantId = ACME, actor: str = "ada", action: str = "asked"
) -> AuditFact:
    """Return something that a person did at the moment where clocks stand at first."""
    return AuditFact(tenant, START, PrincipalId(actor), action, subject, {"w\u00efth": "\ud83d"})


class AuditLogContract(ABC):
    """A chain a tenant; nothing in it ever changes."""

    @abstractmethod
    async def make_log(self) -> AuditLogPort:
        """Return a log; a second call in one test returns another over the same entries."""

    async def test_entries_come_out_as_they_went_in(self) -> None:
        log = await self.make_log()
        facts = [a_fact(f"s{n}") for n in range(3)]

        for fact in facts:
            ok(await log.append(fact))

        entries = ok(await (await self.make_log()).entries(ACME))
        assert [entry.fact for entry in entries] == facts
        assert [entry.number for entry in entries] == [1, 2, 3]

    async def test_entries_are_read_on_after_a_number(self) -> None:
        log = await self.make_log()
        for n in range(4):
            ok(await log.append(a_fact(f"s{n}")))

        found = ok(await log.entries(ACME, after=1, most=2))

        assert [entry.fact.subject for entry in found] == ["s1", "s2"]

    async def test_a_chain_that_nobody_touched_verifies(self) -> None:
        log = await self.make_log()
        assert ok(await log.verify(ACME)) == NOTHING
        ok(await log.append(a_fact("s1")))
        last = ok(await log.append(a_fact("s2")))

        assert ok(await log.verify(ACME)) == Checkpoint(2, last.digest)

    async def test_tenants_have_chains_of_their_own(self) -> None:
        log = await self.make_log()
        ok(await log.append(a_fact("s1")))
        other = ok(await log.append(a_fact("s2", GLOBEX)))

        assert other.number == 1
        assert [e.fact.subject for e in ok(await log.entries(ACME))] == ["s1"]

    async def test_a_tail_that_is_missing_shows_against_a_checkpoint(self) -> None:
        log = await self.make_log()
        last = ok(await log.append(a_fact("s1")))

        assert ok(await log.verify(ACME, Checkpoint(2, "0" * 64))) == BrokenChain(2)
        assert ok(await log.verify(ACME, last.checkpoint)) == last.checkpoint
