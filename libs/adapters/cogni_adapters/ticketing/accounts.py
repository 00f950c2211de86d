"""Who a ticketing system knows."""

from collections import defaultdict

from cogni_adapters.rest.client import RestClient
from cogni_adapters.rest.failures import listed
from cogni_adapters.rest.fields import flag, items, mapping, number, text
from cogni_adapters.rest.paging import Part, every
from cogni_adapters.ticketing.redmine_permissions import SIGNED_IN
from cogni_domain.access.source_accounts import SourceAccount, SourceAccounts
from cogni_domain.ports.accounts import AccountsPort
from cogni_kernel import Result

ROWS = 100


class JiraAccountsAdapter(AccountsPort):
    """The people of a Jira site and their groups, by id. Who shows no address is matched with nobody.

    Args:
        authority: The same as the connector's.
        client: At the site's address; may see people and groups.
    """

    def __init__(self, authority: str, client: RestClient) -> None:
        self._authority, self._client = authority, client

    @property
    def authority(self) -> str:
        return self._authority

    async def accounts(self) -> Result[SourceAccounts]:
        return await listed(self._everybody())

    async def _everybody(self) -> SourceAccounts:
        groups_of: defaultdict[str, set[str]] = defaultdict(set)
        for group in await every(lambda start: self._values("/rest/api/3/group/bulk", start)):
            name = text(group, "groupId")
            for member in await self._members(name):
                groups_of[text(member, "accountId")].add(name)
        people = await every(self._people)
        found = [
            SourceAccount(
                id=text(person, "accountId"),
                subject=str(mapping(person).get("emailAddress") or ""),
                groups=frozenset(groups_of[text(person, "accountId")]),
                active=flag(person, "active"),
            )
            for person in people
        ]
        return SourceAccounts(self._authority, tuple(found))

    async def _members(self, group: str) -> list[object]:
        path = "/rest/api/3/group/member"
        return await every(lambda start: self._values(path, start, groupId=group))

    async def _people(self, start: int) -> Part:
        place = {"startAt": start, "maxResults": ROWS}
        return items(await self._client.get("/rest/api/3/users/search", place)), False

    async def _values(self, path: str, start: int, **question: str) -> Part:
        place = {"startAt": start, "maxResults": ROWS}
        answer = await self._client.get(path, {**question, **place})
        return items(answer, "values"), flag(answer, "isLast")


class RedmineAccountsAdapter(AccountsPort):
    """The active accounts of a Redmine and their groups; every one of them is in the group of all accounts.

    Args:
        authority: The same as the connector's.
        client: Signed in as an administrator.
    """

    def __init__(self, authority: str, client: RestClient) -> None:
        self._authority, self._client = authority, client

    @property
    def authority(self) -> str:
        return self._authority

    async def accounts(self) -> Result[SourceAccounts]:
        return await listed(self._everybody())

    async def _everybody(self) -> SourceAccounts:
        groups_of: defaultdict[str, set[str]] = defaultdict(set)
        for group in items(await self._client.get("/groups.json"), "groups"):
            name = text(group, "id")
            answer = await self._client.get(f"/groups/{int(name)}.json", {"include": "users"})
            for member in items(answer, "group", "users"):
                groups_of[text(member, "id")].add(name)
        found = [
            SourceAccount(name, text(person, "mail"), frozenset({SIGNED_IN, *groups_of[name]}))
            for person in await every(self._people)
            for name in [text(person, "id")]
        ]
        return SourceAccounts(self._authority, tuple(found))

    async def _people(self, start: int) -> Part:
        place = {"status": 1, "offset": start, "limit": ROWS}
        answer = await self._client.get("/users.json", place)
        rows = items(answer, "users")
        return rows, start + len(rows) >= number(answer, "total_count")
