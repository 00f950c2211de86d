"""What can happen to a company, and how often."""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from cogni_domain.knowledge.source import ChangeKind
from cogni_testing.histories.company import Company, Page


@dataclass(frozen=True)
class Change:
    """Something that happened to a company: to these pages, or to its people."""

    text: str
    pages: Sequence[str] = ()
    kind: ChangeKind = ChangeKind.EDITED
    of_people: bool = False


def _some(company: Company, dice: random.Random, most: int) -> frozenset[str]:
    return frozenset(dice.sample(company.world.tokens, dice.randint(0, most)))


def _add(company: Company, dice: random.Random) -> Change | None:
    missing = [page for page in company.world.pages if page not in company.pages]
    if not missing:
        return None
    name, parent = dice.choice(missing), dice.choice([None, *company.pages])
    space = company.pages[parent].space if parent else dice.choice(company.world.spaces)
    only = _some(company, dice, 3) if dice.random() < 0.2 else None
    company.pages[name] = Page(space, parent, only, revision=company.next_revision())
    company.pages[name].attached = dice.random() < 0.4
    company.pages[name].text = dice.choice(company.world.texts)
    return Change(f"add {name} {company.pages[name]}", [name])


def _edit(company: Company, dice: random.Random) -> Change | None:
    if not company.pages:
        return None
    name = dice.choice(list(company.pages))
    company.pages[name].revision = company.next_revision()
    company.pages[name].attached ^= dice.random() < 0.4
    return Change(f"edit {name}", [name])


def _move(company: Company, dice: random.Random) -> Change | None:
    if not company.pages:
        return None
    name = dice.choice(list(company.pages))
    below = company.below(name)
    parent = dice.choice([None, *(p for p in company.pages if p not in below)])
    space = company.pages[parent].space if parent else dice.choice(company.world.spaces)
    company.pages[name].parent = parent
    for page in below:
        company.pages[page].space = space
    return Change(f"move {name} to {parent or space}", below, ChangeKind.MOVED)


def _delete(company: Company, dice: random.Random) -> Change | None:
    if len(company.pages) < 2:
        return None
    gone = company.below(dice.choice(list(company.pages)))
    for page in gone:
        del company.pages[page]
    return Change(f"delete {gone}", gone, ChangeKind.DELETED)


def _restrict(company: Company, dice: random.Random) -> Change | None:
    if not company.pages:
        return None
    name = dice.choice(list(company.pages))
    only = None if dice.random() < 0.5 else _some(company, dice, 3)
    company.pages[name].only = only
    text = f"restrict {name} to {None if only is None else sorted(only)}"
    return Change(text, company.below(name), ChangeKind.ACL_CHANGED)


def _deny(company: Company, dice: random.Random) -> Change | None:
    if not company.pages:
        return None
    name = dice.choice(list(company.pages))
    company.pages[name].never = frozenset() if dice.random() < 0.5 else _some(company, dice, 1)
    text = f"deny {name} to {sorted(company.pages[name].never)}"
    return Change(text, company.below(name), ChangeKind.ACL_CHANGED)


def _blur(company: Company, dice: random.Random) -> Change | None:
    if not company.pages:
        return None
    name = dice.choice(list(company.pages))
    unclear = [page for page in company.pages if company.pages[page].unclear]
    name = unclear[0] if unclear else name
    company.pages[name].unclear = not unclear
    text = f"{name} is unclear: {company.pages[name].unclear}"
    return Change(text, company.below(name), ChangeKind.ACL_CHANGED)


def _space(company: Company, dice: random.Random) -> Change | None:
    name = dice.choice(company.world.spaces)
    readers = None if dice.random() < 0.5 else _some(company, dice, 4)
    company.spaces[name] = readers
    mine = [page for page, of in company.pages.items() if of.space == name]
    text = f"space {name} for {None if readers is None else sorted(readers)}"
    return Change(text, mine, ChangeKind.ACL_CHANGED)


def _join(company: Company, dice: random.Random) -> Change | None:
    person, group = dice.choice(company.world.people), dice.choice(company.world.groups)
    company.members[group] ^= {person}
    return Change(f"{group} is {sorted(company.members[group])}", of_people=True)


def _nest(company: Company, dice: random.Random) -> Change | None:
    outer, inner = dice.choice(company.world.groups), dice.choice(company.world.groups)
    company.inside[outer] ^= {inner}
    return Change(f"in {outer} are {sorted(company.inside[outer])}", of_people=True)


def suspend(company: Company, dice: random.Random) -> Change | None:
    company.suspended = set() if company.suspended else {dice.choice(company.world.people)}
    return Change(f"suspended are {sorted(company.suspended)}", of_people=True)


def forget(company: Company, dice: random.Random) -> Change | None:
    company.unknown = set() if company.unknown else {dice.choice(company.world.people)}
    return Change(f"groups unknown of {sorted(company.unknown)}", of_people=True)


def switch(company: Company, dice: random.Random) -> Change | None:
    if company.enabled and dice.random() < 0.7:
        return None
    company.enabled = not company.enabled
    return Change(f"enabled: {company.enabled}", of_people=True)


AT_THE_SOURCE = (_add, _move, _delete, _restrict, _deny, _blur, _space, _join, _nest)
AT_THE_SOURCE_WEIGHTS = (16, 5, 2, 6, 4, 2, 3, 6, 2)
"""Changes of pages, permissions and groups; no page says something else afterwards."""

HAPPENINGS = (*AT_THE_SOURCE, _edit, suspend, forget, switch)
WEIGHTS = (*AT_THE_SOURCE_WEIGHTS, 3, 1, 1, 1)
