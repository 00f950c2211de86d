"""The intranet's pages by their paths."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from cogni_acme.host import LeaveAccounts
from cogni_acme.host_site import pages
from cogni_acme.host_site.frame import Mount, Page, framed
from cogni_acme.host_site.markup import Html
from cogni_acme.host_site.visitor import Visitor
from cogni_acme.intranet import Intranet
from cogni_acme.people import People, Person
from cogni_acme.request_desk import RequestDesk
from cogni_kernel import TenantId

STYLE = Path(__file__).parent / "site.css"
FIRST_VISITOR = "engineer"

_PAGES: Mapping[str, Callable[[Visitor], Page]] = {
    "/": pages.home,
    "/people": pages.people,
    "/handbook": pages.handbook,
    "/requests": pages.requests,
    "/time-off": pages.time_off,
}


@dataclass(frozen=True, slots=True)
class HostSite:
    """The intranets of every tenant of the demo, each for its own people."""

    people: People
    intranets: Mapping[TenantId, Intranet]
    desk: RequestDesk
    accounts: LeaveAccounts

    def person(self, person_id: str | None) -> Person:
        """Return who visits; one who is not known is the first visitor."""
        try:
            return self.people.person(person_id or FIRST_VISITOR)
        except ValueError:
            return self.people.person(FIRST_VISITOR)

    def respond(self, path: str, person: Person, mount: Mount) -> tuple[int, Html]:
        """Return the status and the document of a path, for one person."""
        intranet = self.intranets[person.account.tenant_id]
        visitor = Visitor(person, self.people, intranet, self.desk, self.accounts)
        page = _page(path, visitor)
        return page.status, framed(page, path, visitor, mount)


def _page(path: str, visitor: Visitor) -> Page:
    if path in _PAGES:
        return _PAGES[path](visitor)
    if path.startswith("/requests/"):
        return pages.request(visitor, path.removeprefix("/requests/"))
    return pages.handbook_page(visitor, path.removeprefix("/"))
