"""Who a wiki knows."""

import asyncio
import re
from collections import defaultdict
from pathlib import Path
from urllib.parse import quote

from cogni_adapters.rest.client import RestClient
from cogni_adapters.rest.failures import listed
from cogni_adapters.rest.fields import items, mapping, text
from cogni_adapters.rest.paging import Part, every
from cogni_domain.access.source_accounts import SourceAccount, SourceAccounts
from cogni_domain.ports.accounts import AccountsPort
from cogni_kernel import Err, HumanText, Ok, Result, UpstreamError

UNREAD = HumanText(
    "The wiki's list of accounts cannot be read. Let this service read users.auth.php."
)

ROWS = 200

_SPLIT = re.compile(r"(?<!(?<!\\)\\):")
_COMMENT = re.compile(r"(?<!\\)#.*$")


class DokuWikiAccountsAdapter(AccountsPort):
    """The accounts in `conf/users.auth.php`; no call of the wiki tells them all. Its hashes are not kept.

    Args:
        authority: The same as the connector's.
        users: The file.
    """

    def __init__(self, authority: str, users: Path) -> None:
        self._authority, self._users = authority, users

    @property
    def authority(self) -> str:
        return self._authority

    async def accounts(self) -> Result[SourceAccounts]:
        try:
            text = await asyncio.to_thread(self._users.read_text, "utf-8")
        except (OSError, ValueError) as failure:
            return Err(UpstreamError(UNREAD, detail={"failure": type(failure).__name__}))
        lines = (_COMMENT.sub("", line).strip() for line in text.splitlines())
        found = [account for line in lines if (account := _account(line)) is not None]
        return Ok(SourceAccounts(self._authority, tuple(found)))


def _account(line: str) -> SourceAccount | None:
    fields = [re.sub(r"\\(.)", r"\1", field) for field in _SPLIT.split(line, maxsplit=4)]
    if len(fields) < 5 or not fields[0]:
        return None
    groups = frozenset(filter(None, fields[4].split(",")))
    return SourceAccount(id=fields[0], subject=fields[3], groups=groups)


class ConfluenceAccountsAdapter(AccountsPort):
    """The people of a Confluence site and their groups, which are known by id: two sites may use one name.

    Who does not show an address is matched with nobody.

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
        for group in await self._rows("/wiki/rest/api/group"):
            name = text(group, "id")
            path = f"/wiki/rest/api/group/{quote(name, safe='')}/membersByGroupId"
            for member in await self._rows(path):
                groups_of[text(member, "accountId")].add(name)
        people = [
            mapping(row, "user")
            for row in await self._rows("/wiki/rest/api/search/user", cql="type=user")
        ]
        found = [
            SourceAccount(name, str(person.get("email") or ""), frozenset(groups_of[name]))
            for person in people
            for name in [text(person, "accountId")]
        ]
        return SourceAccounts(self._authority, tuple(found))

    async def _rows(self, path: str, **question: str) -> list[object]:
        async def part(start: int) -> Part:
            answer = await self._client.get(path, {**question, "start": start, "limit": ROWS})
            return items(answer, "results"), False

        return await every(part)
