"""What one person sees of the intranet. The host is its own authority: it asks its own rules."""

from dataclasses import dataclass
from functools import cached_property

from cogni_acme.content import Item, Kind
from cogni_acme.host import LeaveAccounts, TimeOff
from cogni_acme.intranet import Intranet
from cogni_acme.people import Company, People, Person
from cogni_acme.request_desk import RequestDesk, admits
from cogni_acme.tickets import Ticket
from cogni_domain.access.principal import Principal


@dataclass(frozen=True)
class Visitor:
    """A person on the intranet of their company."""

    person: Person
    everybody: People
    intranet: Intranet
    desk: RequestDesk
    accounts: LeaveAccounts

    @cached_property
    def principal(self) -> Principal:
        """The person with their tokens."""
        return self.everybody.principal(self.id)

    @property
    def id(self) -> str:
        return str(self.person.account.id)

    @property
    def name(self) -> str:
        return self.person.account.display_name

    @property
    def company(self) -> Company:
        return self.everybody.company(str(self.person.account.tenant_id))

    @property
    def colleagues(self) -> list[Person]:
        """Everybody of the company, by name."""
        tenant = self.person.account.tenant_id
        found = [person for person in self.everybody.people if person.account.tenant_id == tenant]
        return sorted(found, key=lambda person: person.account.display_name)

    @property
    def names(self) -> dict[str, str]:
        return self.everybody.names(str(self.person.account.tenant_id))

    def pages(self) -> list[Item]:
        """Return the pages that may be opened, by place."""
        found = (item for item in self.intranet.items() if item.kind is Kind.PAGE)
        return sorted(
            (item for item in found if admits(item, self.principal)), key=lambda item: item.place
        )

    def page(self, page_id: str) -> Item | None:
        """Return a page; None both where there is none and where it may not be opened."""
        item = self.intranet.get(page_id)
        if item is None or item.kind is not Kind.PAGE or not admits(item, self.principal):
            return None
        return item

    def requests(self) -> list[Ticket]:
        """Return the requests that may be opened, the newest first."""
        references = (
            item.ticket.reference
            for item in self.intranet.items()
            if item.kind is Kind.TICKET and item.ticket
        )
        found = [self.desk.find(self.principal, reference) for reference in references]
        return sorted(filter(None, found), key=lambda ticket: ticket.opened, reverse=True)

    def request(self, reference: str) -> tuple[Item, Ticket] | None:
        """Return a request and the item that it is; None as `page` returns it."""
        item, ticket = self.intranet.ticket(reference), self.desk.find(self.principal, reference)
        return (item, ticket) if item is not None and ticket is not None else None

    def days_left(self) -> int | None:
        """Return the working days of leave left, None for who has no account."""
        return self.accounts.days_left((self.person.account.tenant_id, self.person.account.id))

    def booked(self) -> tuple[TimeOff, ...]:
        """Return the leave that is booked, the earliest first."""
        return self.accounts.booked((self.person.account.tenant_id, self.person.account.id))
