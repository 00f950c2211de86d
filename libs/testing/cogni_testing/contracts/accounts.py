"""What every `AccountsPort` promises."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

from cogni_domain.access.source_accounts import SourceAccount
from cogni_domain.ports.accounts import AccountsPort
from cogni_kernel import UpstreamError
from cogni_testing.assertions import err, ok

ANA = SourceAccount("1", "ana@acme.example", frozenset({"71", "72"}))
BOB = SourceAccount("2", "bob@acme.example", frozenset({"72"}))
DAN = SourceAccount("3", "dan@acme.example")


class AccountsContract(ABC):
    """A source whose accounts the test may choose.

    Attributes:
        everybody: The groups that the source puts every account in.
    """

    everybody: frozenset[str] = frozenset()

    @abstractmethod
    def make_accounts(self, accounts: Sequence[SourceAccount]) -> AccountsPort:
        """Return the accounts of a source that has these, with groups of these ids."""

    @abstractmethod
    def break_off(self) -> None:
        """Let the source answer no more."""

    async def test_every_account_comes_with_its_groups(self) -> None:
        found = ok(await self.make_accounts([ANA, BOB, DAN]).accounts())

        assert {a.id: (a.subject, a.groups, a.active) for a in found.accounts} == {
            a.id: (a.subject, a.groups | self.everybody, True) for a in (ANA, BOB, DAN)
        }

    async def test_accounts_and_groups_are_qualified_by_the_source(self) -> None:
        source = self.make_accounts([ANA])
        found = ok(await source.accounts())
        (account,) = found.accounts

        assert found.authority == source.authority
        assert found.groups_of(account) == {
            f"{source.authority}/account/1",
            *(f"{source.authority}/group/{name}" for name in ANA.groups | self.everybody),
        }

    async def test_all_of_many_are_there(self) -> None:
        many = [
            SourceAccount(str(n), f"p{n}@acme.example", frozenset({"71"})) for n in range(1, 251)
        ]
        found = ok(await self.make_accounts(many).accounts())

        assert {a.id for a in found.accounts} == {a.id for a in many}

    async def test_a_source_that_does_not_answer_has_no_accounts_rather_than_none(self) -> None:
        source = self.make_accounts([ANA])
        self.break_off()

        err(await source.accounts(), UpstreamError)
