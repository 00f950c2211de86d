"""Every named permission case of the demo, checked on the rules themselves."""

import pytest

from cogni_acme.content import Content, load_content
from cogni_acme.people import load_people
from cogni_domain.access.rule import AccessRule
from cogni_domain.access.tokens import EVERYONE, ReaderToken

ACME = {"hr-lead", "engineer", "contractor", "finance-lead", "new-hire", "support", "administrator"}
EMPLOYEES = ACME - {"contractor"}
LEAVE = "wiki/handbook/leave"


@pytest.fixture(scope="module")
def acme() -> Content:
    return load_content("acme")


def _rule(content: Content, item_id: str, revision: int = 2) -> AccessRule:
    rule = {item.id: item.rule for item in content.items(revision)}[item_id]
    assert isinstance(rule, AccessRule)
    return rule


def _readers(content: Content, item_id: str, revision: int = 2) -> set[str]:
    people = load_people()
    rule = _rule(content, item_id, revision)
    return {name for name in ACME if rule.admits(people.principal(name).tokens())}


@pytest.mark.parametrize(
    ("item_id", "readers"),
    [
        ("wiki/products/flowline-300", ACME),
        (f"{LEAVE}/contractors", ACME),
        (f"{LEAVE}/parental-leave", EMPLOYEES),
        (f"{LEAVE}/parental-leave/exceptions", {"hr-lead"}),
        ("wiki/hr/salary-bands", {"hr-lead"}),
        ("wiki/engineering/runbooks/database-failover", {"engineer", "finance-lead"}),
        ("wiki/handbook/leipzig/arbeitszeit", {"hr-lead", "engineer", "new-hire", "administrator"}),
        ("wiki/projects/harbour/milestones", {"engineer", "contractor", "finance-lead"}),
        ("wiki/projects/harbour/risks", {"engineer", "finance-lead"}),
        ("wiki/board/draft-leipzig-site", set()),
        ("wiki/products/roadmap-briefing", EMPLOYEES),
        ("files/people/new-head-of-sales.rtf", EMPLOYEES),
        ("files/people/pay-round-2027.xlsx", {"hr-lead"}),
    ],
)
def test_a_page_is_read_by_exactly_these(acme: Content, item_id: str, readers: set[str]) -> None:
    assert _readers(acme, item_id) == readers


def test_a_conjunction_needs_both_groups(acme: Content) -> None:
    rule = _rule(acme, "wiki/engineering/platform-unit-costs")
    finance, engineering = (
        ReaderToken("g:directory/finance"),
        ReaderToken("g:directory/engineering"),
    )

    assert _readers(acme, "wiki/engineering/platform-unit-costs") == {"finance-lead"}
    assert rule.admits(frozenset({finance, engineering}))
    assert not rule.admits(frozenset({EVERYONE, finance}))
    assert not rule.admits(frozenset({EVERYONE, engineering}))


def test_a_denied_person_is_the_only_employee_who_may_not_read(acme: Content) -> None:
    readers = _readers(acme, "wiki/handbook/anniversaries/surprise-jonas")

    assert readers == EMPLOYEES - {"engineer"}


@pytest.mark.parametrize(
    ("ticket", "number", "of_ticket", "of_comment"),
    [
        ("tickets/customer/REQ-4471", 3, EMPLOYEES, {"support"}),
        ("tickets/it/REQ-4431", 2, {"contractor", "support"}, {"support"}),
        ("tickets/people/REQ-4440", 2, {"finance-lead", "hr-lead"}, {"hr-lead"}),
        ("tickets/facilities/REQ-4455", 2, ACME, {"support"}),
    ],
)
def test_an_internal_comment_is_narrower_than_its_ticket(
    acme: Content, ticket: str, number: int, of_ticket: set[str], of_comment: set[str]
) -> None:
    assert _readers(acme, ticket) == of_ticket
    assert _readers(acme, f"{ticket}/internal-{number}") == of_comment


def test_a_move_into_a_restricted_space_narrows(acme: Content) -> None:
    assert _readers(acme, "wiki/products/discount-ladder", revision=1) == ACME
    assert _readers(acme, "wiki/products/discount-ladder", revision=2) == {"finance-lead"}


def test_a_page_restricted_later_was_open_before(acme: Content) -> None:
    page = "wiki/projects/harbour/api-notes"

    assert "contractor" in _readers(acme, page, revision=1)
    assert "contractor" not in _readers(acme, page, revision=2)


def test_parental_leave_has_three_permitted_answers(acme: Content) -> None:
    texts = {item.id: item.data for item in acme.items()}

    assert b"20 weeks of parental leave" in texts[f"{LEAVE}/parental-leave"]
    assert b"28 weeks" not in texts[f"{LEAVE}/parental-leave"]
    assert b"28 weeks of parental leave" in texts[f"{LEAVE}/parental-leave/exceptions"]
    assert b"parental leave from your agency" in texts[f"{LEAVE}/contractors"]
    assert b"20 weeks" not in texts[f"{LEAVE}/contractors"]
