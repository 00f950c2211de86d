"""A right is taken away while its holder asks without a pause, and the indexes stand still."""

import random
from collections.abc import Callable, Sequence

from cogni_domain.knowledge.source import ChangeKind
from cogni_testing.histories.company import SMALL, Company, Page
from cogni_testing.histories.errors import DifferenceError, together
from cogni_testing.histories.happenings import Change
from cogni_testing.histories.product import Product, Seen, Stores

HOLDER, GROUP = "ada", "g:wiki/hr"
PAGE, ADDED, CLOSED = "p1", "p2", "p3"
ASKING_AT_ONCE, TIMES = 4, 4


def _leave(company: Company) -> Change:
    company.members["hr"].discard(HOLDER)
    return Change("left the group", of_people=True)


def _suspend(company: Company) -> Change:
    company.suspended.add(HOLDER)
    return Change("was suspended", of_people=True)


def _forget(company: Company) -> Change:
    company.unknown.add(HOLDER)
    return Change("has groups that are not known", of_people=True)


def _disable(company: Company) -> Change:
    company.enabled = False
    return Change("is of a tenant that was disabled", of_people=True)


def _restrict(company: Company) -> Change:
    company.pages[PAGE].only = frozenset({"u:ben"})
    return _of_page(company, "is not on the page's list", ChangeKind.ACL_CHANGED)


def _deny(company: Company) -> Change:
    company.pages[PAGE].never = frozenset({f"u:{HOLDER}"})
    return _of_page(company, "is denied the page", ChangeKind.ACL_CHANGED)


def _close(company: Company) -> Change:
    company.spaces["open"] = frozenset({"g:wiki/eng"})
    return _of_page(company, "is not in the space", ChangeKind.ACL_CHANGED)


def _blur(company: Company) -> Change:
    company.pages[PAGE].unclear = True
    return _of_page(company, "meets an unclear page", ChangeKind.ACL_CHANGED)


def _move(company: Company) -> Change:
    company.pages[PAGE].parent = CLOSED
    return _of_page(company, "may not read what is above the page now", ChangeKind.MOVED)


def _of_page(company: Company, text: str, kind: ChangeKind) -> Change:
    return Change(text, company.below(PAGE), kind)


REVOCATIONS: Sequence[Callable[[Company], Change]] = (
    *(_leave, _suspend, _forget, _disable),
    *(_restrict, _deny, _close, _blur, _move),
)


class Race:
    """One tenant; a page that its holder reads as a member of a group, until that is revoked.

    Every other seed adds to what was revoked, a page below it and a new revision, before the holder asks again.
    """

    def __init__(self, seed: int, stores: Stores) -> None:
        self.seed = seed
        self._dice = random.Random(seed)
        self._revoke = REVOCATIONS[seed // 2 % len(REVOCATIONS)]
        self._company = company = Company(SMALL)
        company.pages[PAGE] = Page("open", only=frozenset({GROUP}), attached=True)
        company.pages[CLOSED] = Page("open", only=frozenset({"u:ben"}))
        self._product = Product(company, stores, f"race {seed}")
        self._is_revoked = False
        self._how = ""
        self.answers = 0

    async def set_up(self) -> None:
        await self._product.set_up()
        await self._product.tell(ChangeKind.EDITED, list(self._company.pages))

    async def run(self) -> None:
        """Revoke among questions.

        Raises:
            DifferenceError: A question that was asked after the revocation showed what it took away.
        """
        if (seen := await self._product.seen(HOLDER)).everything() != {PAGE, f"{PAGE}!1"}:
            self._leak("before anything was revoked", seen)
        asking = [self._ask(self._dice.randint(1, TIMES)) for _ in range(ASKING_AT_ONCE)]
        await together([*asking, self._take_away()])
        await self._ask(1)

    async def end(self) -> None:
        """Ask again, with everything indexed."""
        await self._ask(1)

    async def _take_away(self) -> None:
        for _ in range(self._dice.randint(0, 2)):
            await self._product.principal("ben")
        change = self._revoke(self._company)
        self._how = change.text
        await self._tell(change)
        self._is_revoked = True
        if self.seed % 2:
            self._company.pages[ADDED] = Page("open", parent=PAGE, attached=True)
            self._company.pages[PAGE].revision += 1
            await self._product.tell(ChangeKind.EDITED, [ADDED, PAGE])

    async def _tell(self, change: Change) -> None:
        if change.of_people:
            await self._product.tell_people()
        await self._product.tell(change.kind, change.pages)

    async def _ask(self, times: int) -> None:
        for _ in range(times):
            is_late = self._is_revoked
            seen = await self._product.seen(HOLDER)
            self.answers += is_late
            if is_late and seen.everything():
                self._leak("after it was revoked", seen)

    def _leak(self, moment: str, seen: Seen) -> None:
        raise DifferenceError(f"race {self.seed}: {HOLDER} {self._how}; {moment} saw {seen}")


async def run_races(seeds: Sequence[int], stores: Stores) -> int:
    """Run one race a seed, all at once as tenants of the same stores; no index is touched before all have ended.

    Returns:
        How many answers were asked for after a revocation.

    Raises:
        DifferenceError: One of them showed what had been revoked.
    """
    races = [Race(seed, stores) for seed in seeds]
    for race in races:
        await race.set_up()
    await stores.worker.work_off()
    await together(race.run() for race in races)
    await stores.worker.work_off()
    await together(race.end() for race in races)
    return sum(race.answers for race in races)
