from collections.abc import Sequence
from typing import Any

import httpx2

from cogni_adapters.rest.client import RestClient
from cogni_adapters.wiki.accounts import ConfluenceAccountsAdapter
from cogni_domain.access.source_accounts import SourceAccount
from cogni_testing import ok
from cogni_testing.contracts.accounts import ANA, AccountsContract


class Site:
    """People and groups; gives at most 50 rows, whatever is asked for."""

    def __init__(self, accounts: Sequence[SourceAccount]) -> None:
        self.accounts = accounts
        self.is_away = False

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        if self.is_away:
            return httpx2.Response(401)
        start = int(request.url.params["start"])
        rows = self._rows(request.url.path)[start : start + 50]
        return httpx2.Response(200, json={"results": rows, "size": len(rows)})

    def _rows(self, path: str) -> list[dict[str, Any]]:
        if path == "/wiki/rest/api/group":
            names = sorted(set[str]().union(*(a.groups for a in self.accounts)))
            return [{"id": name, "name": "Site Members"} for name in names]
        if path == "/wiki/rest/api/search/user":
            return [{"user": {"accountId": a.id, "email": a.subject}} for a in self.accounts]
        group = path.split("/")[5]
        return [{"accountId": a.id} for a in self.accounts if group in a.groups]

    def adapter(self, authority: str = "acme.atlassian.example") -> ConfluenceAccountsAdapter:
        transport = httpx2.MockTransport(self)
        client = RestClient("https://acme.atlassian.example", pace_s=0, transport=transport)
        return ConfluenceAccountsAdapter(authority, client)


class TestConfluenceAccounts(AccountsContract):
    def make_accounts(self, accounts: Sequence[SourceAccount]) -> ConfluenceAccountsAdapter:
        self.site = Site(accounts)
        return self.site.adapter()

    def break_off(self) -> None:
        self.site.is_away = True


async def test_groups_of_two_sites_with_one_name_are_kept_apart() -> None:
    one = ok(await Site([ANA]).adapter("a.example").accounts())
    other = ok(await Site([ANA]).adapter("b.example").accounts())

    assert one.groups_of(one.accounts[0]).isdisjoint(other.groups_of(other.accounts[0]))


async def test_who_shows_no_address_is_nobody_here() -> None:
    found = ok(await Site([SourceAccount("9", "")]).adapter().accounts())

    assert found.by_subject() == {}
