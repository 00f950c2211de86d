"""Who a DokuWiki knows."""

import asyncio
import re
from pathlib import Path

from cogni_domain.access.source_accounts import SourceAccount, SourceAccounts
from cogni_domain.ports.accounts import AccountsPort
from cogni_kernel import Err, HumanText, Ok, Result, UpstreamError

UNREAD = HumanText(
    "The wiki's list of accounts cannot be read. Let this service read users.auth.php."
)

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
