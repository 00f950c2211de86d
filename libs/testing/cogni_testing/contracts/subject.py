"""What every `SubjectPort` promises."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

from cogni_domain.access.predicate import All
from cogni_domain.access.principal import Principal
from cogni_domain.access.scope import Scope
from cogni_domain.ports.subject import SubjectPort
from cogni_domain.subjects import SubjectRef
from cogni_kernel import NotFoundError
from cogni_testing.assertions import err, ok


@dataclass(frozen=True, slots=True)
class SubjectCase:
    """A port with one record, and people of its tenant and of another.

    Attributes:
        ref: A record that `reader` may see and `other` may not.
        stranger: Somebody of another tenant.
    """

    port: SubjectPort
    ref: SubjectRef
    reader: Principal
    other: Principal
    stranger: Principal


class SubjectContract(ABC):
    """A record is there for who may see it, and for nobody else."""

    @abstractmethod
    def make_case(self) -> SubjectCase:
        """Return the port under test, with its people."""

    async def test_a_record_is_named_to_who_may_see_it(self) -> None:
        case = self.make_case()

        found = ok(await case.port.resolve(case.ref, _scope(case.reader)))

        assert found.ref == case.ref
        assert found.title
        assert found.text or found.source

    async def test_absent_and_forbidden_are_one(self) -> None:
        case = self.make_case()
        absent = SubjectRef(case.ref.kind, "nothing of that name", case.ref.tenant_id)
        unknown = SubjectRef("no such kind", case.ref.id, case.ref.tenant_id)

        refusals = [
            err(await case.port.resolve(ref, _scope(who)), NotFoundError)
            for ref, who in (
                (case.ref, case.other),
                (case.ref, case.stranger),
                (absent, case.reader),
                (unknown, case.reader),
            )
        ]

        assert len({str(refusal.message) for refusal in refusals}) == 1

    async def test_a_reference_into_another_tenant_leads_nowhere(self) -> None:
        case = self.make_case()
        assert case.stranger.tenant_id is not None
        elsewhere = SubjectRef(case.ref.kind, case.ref.id, case.stranger.tenant_id)

        err(await case.port.resolve(elsewhere, _scope(case.reader)), NotFoundError)


def _scope(principal: Principal) -> Scope:
    assert principal.tenant_id is not None
    return Scope(principal.tenant_id, principal, frozenset(), All(()))
