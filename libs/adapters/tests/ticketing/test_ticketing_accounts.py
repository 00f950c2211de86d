from collections.abc import Sequence
from typing import Any

import httpx2

from cogni_adapters.rest.client import RestClient
from cogni_adapters.ticketing.accounts import JiraAccountsAdapter, RedmineAccountsAdapter
from cogni_domain.access.source_accounts import SourceAccount
from cogni_testing import ok
from cogni_testing.contracts.accounts import AccountsContract


class Source:
    """Accounts and their groups as each interface shows them, fewer rows than were asked for."""

    def __init__(self, accounts: Sequence[SourceAccount]) -> None:
        self.accounts = accounts
        self.groups = sorted(set[str]().union(*(a.groups for a in accounts)))
        self.is_away = False

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        if self.is_away:
            return httpx2.Response(401)
        path, asked = request.url.path, request.url.params
        if path.startswith("/rest/"):
            start = int(asked["startAt"])
            return httpx2.Response(200, json=self._jira(path, asked.get("groupId"), start))
        return httpx2.Response(200, json=self._redmine(path, int(asked.get("offset", "0"))))

    def _jira(self, path: str, group: str | None, start: int) -> Any:
        if path == "/rest/api/3/users/search":
            rows = [
                {"accountId": a.id, "emailAddress": a.subject, "active": a.active}
                for a in self.accounts
            ]
            return rows[start : start + 50]
        if path == "/rest/api/3/group/bulk":
            rows = [{"name": "Members", "groupId": name} for name in self.groups]
        else:
            assert path == "/rest/api/3/group/member"
            rows = [{"accountId": a.id} for a in self.accounts if group in a.groups]
        return {"values": rows[start : start + 50], "isLast": start + 50 >= len(rows)}

    def _redmine(self, path: str, start: int) -> Any:
        if path == "/users.json":
            rows = [{"id": int(a.id), "login": a.id, "mail": a.subject} for a in self.accounts]
            return {"users": rows[start : start + 50], "total_count": len(rows)}
        if path == "/groups.json":
            return {"groups": [{"id": int(name), "name": "Members"} for name in self.groups]}
        group = path.split("/")[2].removesuffix(".json")
        users = [{"id": int(a.id)} for a in self.accounts if group in a.groups]
        return {"group": {"id": int(group), "users": users}}

    def client(self) -> RestClient:
        transport = httpx2.MockTransport(self)
        return RestClient("https://tickets.acme.example", pace_s=0, transport=transport)


class TestJiraAccounts(AccountsContract):
    def make_accounts(self, accounts: Sequence[SourceAccount]) -> JiraAccountsAdapter:
        self.source = Source(accounts)
        return JiraAccountsAdapter("jira.acme.example", self.source.client())

    def break_off(self) -> None:
        self.source.is_away = True


class TestRedmineAccounts(AccountsContract):
    everybody = frozenset({"signed-in"})

    def make_accounts(self, accounts: Sequence[SourceAccount]) -> RedmineAccountsAdapter:
        self.source = Source(accounts)
        return RedmineAccountsAdapter("tickets.acme.example", self.source.client())

    def break_off(self) -> None:
        self.source.is_away = True


async def test_a_closed_account_of_jira_has_no_groups() -> None:
    closed = SourceAccount("1", "ana@acme.example", frozenset({"71"}), active=False)
    source = JiraAccountsAdapter("jira.acme.example", Source([closed]).client())

    found = ok(await source.accounts())

    assert found.groups_of(found.accounts[0]) == frozenset()
