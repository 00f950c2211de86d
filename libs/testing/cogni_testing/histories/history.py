"""Histories drawn from seeds, side by side as tenants of the same stores, each compared with its source."""

import random
from collections import Counter
from collections.abc import Sequence

from cogni_testing.histories.company import SMALL, WIDE, Company, World
from cogni_testing.histories.errors import DifferenceError, together
from cogni_testing.histories.happenings import (
    HAPPENINGS,
    WEIGHTS,
    Change,
    forget,
    suspend,
    switch,
)
from cogni_testing.histories.product import FEW, Product, Seen, Stores


class History:
    """A company and its neighbours in one product; what happens to them is drawn from a seed.

    Attributes:
        compared: How many answers were compared, by what they should have held and how far the index was.
    """

    def __init__(self, seed: int, stores: Stores, world: World) -> None:
        self.seed, self.world = seed, world
        self._dice = random.Random(seed)
        names = [f"acme {seed}", f"globex {seed}"][: world.neighbours]
        self.products = [Product(Company(world), stores, name) for name in names]
        self.log: list[str] = []
        self.compared = Counter[str]()

    async def set_up(self) -> None:
        for product in self.products:
            await product.set_up()

    async def go_on(self, most: int) -> int:
        """Let things happen until somebody asks, `most` at most; return how many did."""
        for happened in range(1, most + 1):
            await self._happen(self._dice.choices(self.products, (5, 1)[: len(self.products)])[0])
            if self.world.asks_everybody or self._dice.random() < 0.2:
                return happened
        return most

    async def ask(self, *, is_drained: bool) -> None:
        """Compare what somebody sees now, or everybody where the world has it so."""
        everybody = self.world.asks_everybody
        people = self.world.people if everybody else self._dice.sample(self.world.people, 1)
        await self.compare(people, is_drained=is_drained)

    async def compare(self, people: Sequence[str], *, is_drained: bool) -> None:
        """Compare what people see with what the source allows them.

        Raises:
            DifferenceError: They differ; behind the changes, more is seen than is allowed.
        """
        for product in self.products:
            for person in people:
                allowed = product.company.readable(person)
                self._judge(person, allowed, await product.seen(person), is_drained=is_drained)
            if not self.world.asks_everybody and self._dice.random() < 0.5:
                await self._compare_delegate(
                    product, self._dice.choice(self.world.people), people[0]
                )

    async def _compare_delegate(self, product: Product, machine: str, person: str) -> None:
        seen = await product.seen_by_delegate(machine, person)
        both = product.company.readable(machine) & product.company.readable(person)
        if not seen.everything() <= both:
            self._differ(f"{machine} for {person}", both, seen)

    def _judge(self, who: str, allowed: set[str], seen: Seen, *, is_drained: bool) -> None:
        kind = "nothing" if not allowed else "something"
        self.compared[f"{kind}, {'indexed' if is_drained else 'behind'}"] += 1
        right = seen.by_id == allowed
        for found in seen.found.values():
            right &= found == allowed if is_drained else found <= allowed
        if is_drained:
            right &= all(filled == min(FEW, len(allowed)) for filled in seen.filled.values())
        if not right:
            self._differ(who, allowed, seen)

    def _differ(self, who: str, allowed: set[str], seen: Seen) -> None:
        story = "\n  ".join(self.log)
        raise DifferenceError(
            f"seed {self.seed}: {who} may read {sorted(allowed)}, saw {seen}\n  {story}"
        )

    async def _happen(self, product: Product) -> None:
        """Let one thing happen, told at once; or a few that only the next reading of the source finds."""
        if self._dice.random() > 0.08:
            change = self._change(product)
            if change.pages:
                await product.tell(change.kind, change.pages)
            if change.of_people:
                await product.tell_people()
            return
        changes = [self._change(product) for _ in range(self._dice.randint(1, 3))]
        if any(change.of_people for change in changes):
            await product.tell_people()
        await product.ingest()
        self.log.append(f"{product.tenant}: read from end to end")

    def _change(self, product: Product) -> Change:
        company = product.company
        ends = [
            (switch, not company.enabled),
            (suspend, company.suspended),
            (forget, company.unknown),
        ]
        while True:
            what = self._dice.choices(HAPPENINGS, WEIGHTS)[0]
            ending = [happening for happening, is_due in ends if is_due]
            if ending and self._dice.random() < 0.3:
                what = self._dice.choice(ending)
            change = what(company, self._dice)
            if change is not None:
                self.log.append(f"{product.tenant}: {change.text}")
                return change


async def run_side_by_side(seeds: Sequence[int], stores: Stores, events: int = 40) -> Counter[str]:
    """Run one history a seed, all in the same stores; every other one in the small world.

    They go on together, one lane of indexing jobs for all. At times it stands still for a while; in the end
    everything is indexed and everybody asks.

    Returns:
        How many answers were compared, see `History.compared`.

    Raises:
        DifferenceError: An answer differs from what its source allows.
    """
    histories = [History(seed, stores, SMALL if seed % 2 else WIDE) for seed in seeds]
    left = dict.fromkeys(histories, events)
    dice, is_stopped = random.Random(f"lane {seeds[0]}"), False
    await together(history.set_up() for history in histories)
    while going := [history for history in histories if left[history]]:
        for history in going:
            left[history] -= await history.go_on(left[history])
        is_stopped ^= dice.random() < 0.3
        if not is_stopped:
            await stores.worker.work_off()
        is_drained = await stores.is_drained()
        await together(history.ask(is_drained=is_drained) for history in going)
    await stores.worker.work_off()
    if not await stores.is_drained():
        raise DifferenceError(f"seeds {seeds}: the index never caught up")
    await together(h.compare(h.world.people, is_drained=True) for h in histories)
    return sum((history.compared for history in histories), Counter[str]())
