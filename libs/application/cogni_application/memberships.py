"""From the accounts and groups of sources to what each person of a tenant is a member of."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from cogni_domain.access.principal import Memberships, MembershipState
from cogni_domain.access.source_accounts import SourceAccounts
from cogni_domain.ports.accounts import AccountsPort
from cogni_domain.ports.directory import DirectoryPort
from cogni_engine import Clock
from cogni_kernel import Err, Ok, PrincipalId, Result, TenantId

PATIENCE = timedelta(hours=1)

_Groups = Mapping[PrincipalId, frozenset[str] | None]


@dataclass(frozen=True, slots=True)
class Refreshed:
    """What a refresh came to.

    Attributes:
        states: How many persons' groups are now in each state.
        unmatched: Accounts that are nobody's here, as the directory would call them.
        failed: Authorities that did not answer.
    """

    states: Mapping[MembershipState, int]
    unmatched: tuple[str, ...]
    failed: tuple[str, ...]


class MembershipService:
    """Keeps the directory's groups those of the sources.

    A source that does not answer leaves its groups as they were, for as long as `patience`; after that, what its
    members may read is unknown, which denies. So does an account that could be two persons'. Groups that no
    given source defines are left alone.

    Source:
        DESIGN D24.
    """

    def __init__(
        self, directory: DirectoryPort, clock: Clock, patience: timedelta = PATIENCE
    ) -> None:
        self._directory, self._clock, self._patience = directory, clock, patience
        self._failing_since: dict[tuple[TenantId, str], datetime] = {}

    async def refresh(self, tenant: TenantId, sources: Sequence[AccountsPort]) -> Result[Refreshed]:
        """Read all sources of a tenant and bring every person's groups up to date.

        Errors:
            UpstreamError: The directory did not answer.
        """
        learnt: dict[str, _Groups] = {}
        given_up: dict[str, bool] = {}
        unmatched: list[str] = []
        for source in sources:
            read = await source.accounts()
            if isinstance(read, Err):
                given_up[source.authority] = self._is_given_up(tenant, source.authority)
                continue
            self._failing_since.pop((tenant, source.authority), None)
            groups = await self._groups(tenant, read.value, unmatched)
            if isinstance(groups, Err):
                return groups
            learnt[source.authority] = groups.value
        states = await self._write(tenant, learnt, given_up)
        if isinstance(states, Err):
            return states
        return Ok(Refreshed(states.value, tuple(unmatched), tuple(given_up)))

    def _is_given_up(self, tenant: TenantId, authority: str) -> bool:
        now = self._clock.now()
        return now - self._failing_since.setdefault((tenant, authority), now) > self._patience

    async def _groups(
        self, tenant: TenantId, source: SourceAccounts, unmatched: list[str]
    ) -> Result[_Groups]:
        """Return each person's groups at one source; None where it cannot be told which account is theirs."""
        found: dict[PrincipalId, frozenset[str] | None] = {}
        for subject, account in source.by_subject().items():
            person = await self._directory.account(tenant, subject)
            if isinstance(person, Err):
                return person
            if person.value is None:
                unmatched.append(f"{source.authority}/{account.id if account else subject}")
                continue
            known = found.get(person.value.id, frozenset())
            if account is None or known is None:
                found[person.value.id] = None
            else:
                found[person.value.id] = known | source.groups_of(account)
        return Ok(found)

    async def _write(
        self, tenant: TenantId, learnt: Mapping[str, _Groups], given_up: Mapping[str, bool]
    ) -> Result[Mapping[MembershipState, int]]:
        states: defaultdict[MembershipState, int] = defaultdict(int)
        persons = await self._directory.principals(tenant)
        if isinstance(persons, Err):
            return persons
        for person in persons.value:
            before = await self._directory.memberships(tenant, person)
            if isinstance(before, Err):
                return before
            now = _now(person, before.value, learnt, given_up)
            if now != (before.value.groups, before.value.state):
                written = await self._directory.set_memberships(tenant, person, *now)
                if isinstance(written, Err):
                    return written
            states[now[1]] += 1
        return Ok(dict(states))


def _now(
    person: PrincipalId,
    before: Memberships,
    learnt: Mapping[str, _Groups],
    given_up: Mapping[str, bool],
) -> tuple[frozenset[str], MembershipState]:
    theirs = [groups.get(person, frozenset()) for groups in learnt.values()]
    kept = {group for group in before.groups if group.partition("/")[0] not in learnt}
    groups = frozenset(kept).union(*(known for known in theirs if known is not None))
    if None in theirs or any(given_up.values()):
        return groups, MembershipState.UNKNOWN
    if not given_up:
        return groups, MembershipState.KNOWN
    is_learnt = before.state is not MembershipState.UNKNOWN
    return groups, MembershipState.STALE if is_learnt else MembershipState.UNKNOWN
