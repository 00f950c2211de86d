import pytest

from cogni_acme.content import Kind, load_content
from cogni_acme.intranet import Intranet
from cogni_acme.people import load_people
from cogni_acme.subjects import IntranetSubjects
from cogni_domain.access.predicate import All
from cogni_domain.access.rule import AccessRule
from cogni_domain.access.scope import Scope
from cogni_domain.subjects import Subject, SubjectRef
from cogni_kernel import CorpusId, NotFoundError, Ok, Result, TenantId
from cogni_testing.contracts.subject import SubjectCase, SubjectContract

PEOPLE = load_people()
ACME = TenantId("acme")
INTRANETS = {
    company.tenant.id: Intranet(load_content(str(company.tenant.id), people=PEOPLE).items())
    for company in PEOPLE.companies
}
SUBJECTS = IntranetSubjects(PEOPLE, INTRANETS, CorpusId("intranet"))


async def resolve(
    person: str, kind: str, name: str, tenant: TenantId | None = None
) -> Result[Subject]:
    principal = PEOPLE.principal(person)
    assert principal.tenant_id is not None
    scope = Scope(principal.tenant_id, principal, frozenset(), All(()))
    return await SUBJECTS.resolve(SubjectRef(kind, name, tenant or principal.tenant_id), scope)


async def test_every_item_is_a_subject_to_exactly_those_who_may_read_it() -> None:
    people = [p for p in PEOPLE.people if p.account.tenant_id == ACME]
    for item in INTRANETS[ACME].items():
        for person in people:
            name = str(person.account.id)
            tokens = PEOPLE.principal(name).own_tokens()
            readable = isinstance(item.rule, AccessRule) and item.rule.admits(tokens)

            found = await resolve(name, item.kind.value, item.id)

            assert isinstance(found, Ok) == readable
            if isinstance(found, Ok):
                assert found.value.title == item.title
                assert found.value.source is not None
                assert found.value.source.source_id == item.id


async def test_a_request_is_named_by_its_reference_too() -> None:
    ticket = next(i for i in INTRANETS[ACME].items() if i.kind is Kind.TICKET and i.ticket)
    assert ticket.ticket is not None

    found = await resolve("engineer", "request", ticket.ticket.reference)
    by_id = await resolve("engineer", "request", ticket.id)

    assert isinstance(found, Ok) == isinstance(by_id, Ok)


async def test_a_colleague_is_a_subject_without_a_document() -> None:
    found = await resolve("engineer", "person", "support")

    assert isinstance(found, Ok)
    assert found.value.source is None
    assert "Title: " in found.value.text


@pytest.mark.parametrize(
    ("kind", "name"),
    [("page", "wiki/nothing"), ("salary", "engineer"), ("person", "nobody"), ("file", "")],
)
async def test_what_is_not_there_is_not_found(kind: str, name: str) -> None:
    found = await resolve("engineer", kind, name)

    assert not isinstance(found, Ok)
    assert isinstance(found.error, NotFoundError)


async def test_another_tenants_record_is_not_there() -> None:
    others = [p for p in PEOPLE.people if p.account.tenant_id != ACME]

    for person in others:
        found = await resolve("engineer", "person", str(person.account.id))
        assert not isinstance(found, Ok)
        assert not isinstance(
            await resolve("engineer", "person", str(person.account.id), person.account.tenant_id),
            Ok,
        )


class TestIntranetSubjects(SubjectContract):
    def make_case(self) -> SubjectCase:
        readable = {
            person: {
                item.id
                for item in INTRANETS[ACME].items()
                if isinstance(item.rule, AccessRule)
                and item.rule.admits(PEOPLE.principal(person).own_tokens())
            }
            for person in ("hr-lead", "contractor")
        }
        hidden = min(readable["hr-lead"] - readable["contractor"])
        item = INTRANETS[ACME].get(hidden)
        assert item is not None
        stranger = next(p for p in PEOPLE.people if p.account.tenant_id != ACME)
        return SubjectCase(
            SUBJECTS,
            SubjectRef(item.kind.value, item.id, ACME),
            *(PEOPLE.principal(p) for p in ("hr-lead", "contractor", str(stranger.account.id))),
        )
