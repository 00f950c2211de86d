"""Who a source knows: what its permissions are about."""

from typing import Protocol

from cogni_domain.access.source_accounts import SourceAccounts
from cogni_kernel import Result


class AccountsPort(Protocol):
    """Implementations must pass `contracts.accounts.AccountsContract`."""

    @property
    def authority(self) -> str:
        """What the source's accounts and groups are qualified by, the same as in the rules of its documents."""
        ...

    async def accounts(self) -> Result[SourceAccounts]:
        """Return all accounts with their groups, as of now: to the very last page, or not at all.

        Errors:
            UpstreamError: The source did not answer, or not with all of them.
        """
        ...
