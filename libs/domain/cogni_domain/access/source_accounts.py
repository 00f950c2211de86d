"""Who a source knows: its accounts and groups, and what they are called in the directory.

A source's account is a group of one. So a rule may name it before anybody knows whose it is, and who gains or
loses it does so on the next request, with nothing indexed anew.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from cogni_domain.access.directory import account_key


def source_account(authority: str, account: str) -> str:
    """Return the directory's group of one account.

    >>> source_account("wiki.acme.example", "ana")
    'wiki.acme.example/account/ana'
    """
    return _named(authority, "account", account)


def source_group(authority: str, group: str) -> str:
    """Return the directory's name of a source's group, given by its id there: names may come twice."""
    return _named(authority, "group", group)


def _named(authority: str, kind: str, name: str) -> str:
    if not authority or "/" in authority or not name:
        raise ValueError(f"an authority is a name without /, and names something: {authority!r}")
    return f"{authority}/{kind}/{name}"


@dataclass(frozen=True, slots=True)
class SourceAccount:
    """One account of a source.

    Attributes:
        id: As the source's permissions name it.
        subject: As the directory may know its person: an address, or the name that they sign in with.
        groups: Ids of the groups that it is in itself.
        active: One that is closed has no groups here.
    """

    id: str
    subject: str
    groups: frozenset[str] = frozenset()
    active: bool = True


@dataclass(frozen=True, slots=True)
class SourceAccounts:
    """All accounts of one source at one moment.

    Attributes:
        authority: What the source's accounts and groups are qualified by.
        within: For a group, the groups that it is a member of itself.
    """

    authority: str
    accounts: tuple[SourceAccount, ...]
    within: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def groups_of(self, account: SourceAccount) -> frozenset[str]:
        """Return the directory's groups of an account, with those that its groups are in, however deep."""
        if not account.active:
            return frozenset()
        groups = {source_group(self.authority, g) for g in closure(account.groups, self.within)}
        return frozenset({source_account(self.authority, account.id), *groups})

    def by_subject(self) -> Mapping[str, SourceAccount | None]:
        """Return the one account behind each folded subject; None where two of them would be one person."""
        keys = [account_key(account.subject) for account in self.accounts]
        count = Counter(keys)
        pairs = zip(keys, self.accounts, strict=True)
        return {key: account if count[key] == 1 else None for key, account in pairs if key}


def closure(groups: Iterable[str], within: Mapping[str, frozenset[str]]) -> frozenset[str]:
    """Return groups with all that they are in; a circle ends where it began.

    >>> sorted(closure({"a"}, {"a": frozenset({"b"}), "b": frozenset({"a"})}))
    ['a', 'b']
    """
    found: set[str] = set()
    waiting = list(groups)
    while waiting:
        group = waiting.pop()
        if group not in found:
            found.add(group)
            waiting.extend(within.get(group, ()))
    return frozenset(found)
