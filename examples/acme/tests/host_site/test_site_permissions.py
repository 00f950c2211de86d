"""Who sees what on the intranet: its own rules decide, and what is not shown is not there."""

from datetime import date
from typing import TYPE_CHECKING

import pytest

from cogni_acme.content import load_content
from cogni_acme.host_site.site import HostSite
from cogni_domain.access.rule import AccessRule
from cogni_kernel import Ok, PrincipalId, TenantId

if TYPE_CHECKING:
    from tests.host_site.conftest import Show

EVERYBODY = [
    *("hr-lead", "engineer", "contractor", "finance-lead", "new-hire", "support", "administrator"),
    "outsider",
]
PAGES = [item for item in load_content("acme").items() if item.kind.value == "page"]


@pytest.mark.parametrize("person", EVERYBODY)
def test_the_handbook_lists_what_may_be_opened_and_opens_nothing_else(
    show: "Show", site: HostSite, person: str
) -> None:
    who = site.people.principal(person)
    _, listed = show("/handbook", person)

    for item in PAGES:
        may = (
            str(who.tenant_id) == "acme"
            and isinstance(item.rule, AccessRule)
            and item.rule.admits(who.own_tokens())
        )
        is_listed = f'href="/{item.id}"' in listed
        status, document = show(f"/{item.id}", person)
        if str(who.tenant_id) == "acme":
            assert (is_listed, status) == (may, 200 if may else 404), item.id
        if not may:
            assert item.data.decode().split("\n\n")[1] not in document


def test_absent_and_forbidden_are_the_same_page(show: "Show") -> None:
    forbidden = show("/wiki/hr/salary-bands", "engineer")
    absent = show("/wiki/hr/nothing-here", "engineer")

    assert forbidden[0] == absent[0] == 404
    assert forbidden[1].replace("salary-bands", "nothing-here") == absent[1]


def test_an_internal_comment_is_for_its_own_readers(show: "Show") -> None:
    secret = "Batch 2231"

    assert secret in show("/requests/REQ-4471", "support")[1]
    assert secret not in show("/requests/REQ-4471", "engineer")[1]
    assert show("/requests/REQ-4471", "engineer")[0] == 200
    assert show("/requests/REQ-4471", "contractor")[0] == 404


def test_a_ticket_and_its_comments_are_no_handbook_pages(show: "Show") -> None:
    for item_id in ("tickets/customer/REQ-4471", "tickets/customer/REQ-4471/internal-3"):
        assert show(f"/{item_id}", "support")[0] == 404


def test_the_same_number_is_another_request_in_another_company(show: "Show") -> None:
    ours, theirs = show("/requests/REQ-4471", "support"), show("/requests/REQ-4471", "outsider")

    assert "Delft" in ours[1]
    assert "Delft" not in theirs[1]
    assert '"key_id": "demo-globex"' in theirs[1]


def test_the_people_list_is_of_the_own_company(show: "Show") -> None:
    main = show("/people", "outsider")[1].partition("<main")[2]

    assert "Gaston Perrault" in main
    assert "Hanna Vermeer" not in main


def test_time_off_shows_the_own_account_and_what_was_booked(show: "Show", site: HostSite) -> None:
    account = (TenantId("acme"), PrincipalId("engineer"))
    days = date(2026, 12, 14), date(2026, 12, 16)

    assert isinstance(site.accounts.book(account, *days, "k"), Ok)

    own = show("/time-off", "engineer")[1]
    assert "<strong>9</strong> working days of leave left" in own
    assert "Monday, 14 December 2026 to Wednesday, 16 December 2026: 3 working days" in own
    assert "14 December 2026 to" not in show("/time-off", "new-hire")[1]
    assert "You have no leave account here" in show("/time-off", "contractor")[1]


def test_one_who_is_not_known_visits_as_the_first_visitor(site: HostSite) -> None:
    for junk in (None, "", "nobody", "engineer ", "' or 1=1", "\0", "é" * 5000):
        assert str(site.person(junk).account.id) == "engineer"
