from collections.abc import Sequence
from pathlib import Path

import pytest

from cogni_adapters.wiki.accounts import DokuWikiAccountsAdapter
from cogni_domain.access.source_accounts import SourceAccount
from cogni_testing import ok
from cogni_testing.contracts.accounts import AccountsContract


class TestDokuWikiAccounts(AccountsContract):
    @pytest.fixture(autouse=True)
    def a_file_of_its_own(self, tmp_path: Path) -> None:
        self.path = tmp_path / "users.auth.php"

    def make_accounts(self, accounts: Sequence[SourceAccount]) -> DokuWikiAccountsAdapter:
        lines = [f"{a.id}:$1$x$y:A Name:{a.subject}:{','.join(a.groups)}" for a in accounts]
        self.path.write_text("\n".join(["# <?php exit()?>", *lines]))
        return DokuWikiAccountsAdapter("wiki.acme.example", self.path)

    def break_off(self) -> None:
        self.path.unlink()


async def test_what_is_escaped_is_read_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "users.auth.php"
    path.write_text(
        "\n".join(
            [
                r"ana:h\#a\\:Ana\: of HR:ana@acme.example:hr,user # since May",
                "too:few:fields",
                "",
            ]
        )
    )

    found = ok(await DokuWikiAccountsAdapter("wiki", path).accounts())

    groups = frozenset({"hr", "user"})
    assert found.accounts == (SourceAccount("ana", "ana@acme.example", groups),)
