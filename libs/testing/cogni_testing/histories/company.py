"""A company's source as it stands, and the reference: who may read what, by a walk over the source itself.

The reference shares no code with the product.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class World:
    """What a company is made of.

    Attributes:
        members: Who is in which group at first.
        neighbours: How many companies there are; one has nobody beside it.
        asks_everybody: Every person asks after every event; else one of them now and then.
        texts: What a page may say.
    """

    people: tuple[str, ...]
    groups: tuple[str, ...]
    pages: tuple[str, ...]
    members: Mapping[str, frozenset[str]]
    neighbours: int
    asks_everybody: bool
    spaces: tuple[str, ...] = ("open", "staff")
    texts: tuple[str, ...] = ("leave",)

    @property
    def tokens(self) -> tuple[str, ...]:
        """Whom a page may be restricted to."""
        return (*(f"u:{p}" for p in self.people), *(f"g:wiki/{g}" for g in self.groups))


WIDE = World(
    people=("ada", "ben", "Ada"),
    groups=("hr", "eng", "leads"),
    pages=("p1", "p2", "p3", "p4", "p5"),
    members={
        "hr": frozenset({"ada"}),
        "eng": frozenset({"ben", "Ada"}),
        "leads": frozenset({"ada", "ben"}),
    },
    neighbours=2,
    asks_everybody=False,
)
SMALL = World(
    people=("ada", "ben"),
    groups=("hr", "eng"),
    pages=("p1", "p2", "p3"),
    members={"hr": frozenset({"ada"}), "eng": frozenset({"ben"})},
    neighbours=1,
    asks_everybody=True,
)


@dataclass
class Page:
    """A page as its source keeps it.

    Attributes:
        parent: The page above it, None at the top of its space.
        only: Who alone may view it and what is below it; None where the page restricts nothing.
        never: Who may not.
        unclear: Its restrictions cannot be read.
    """

    space: str
    parent: str | None = None
    only: frozenset[str] | None = None
    never: frozenset[str] = frozenset()
    unclear: bool = False
    revision: int = 1
    attached: bool = False
    text: str = "leave"


@dataclass
class Company:
    """The source of truth: spaces, pages, groups within groups, people."""

    world: World
    enabled: bool = True
    spaces: dict[str, frozenset[str] | None] = field(
        default_factory=lambda: {"open": None, "staff": frozenset({"g:wiki/hr"})}
    )
    pages: dict[str, Page] = field(default_factory=dict)
    suspended: set[str] = field(default_factory=set)
    unknown: set[str] = field(default_factory=set)
    revisions: int = 0

    def __post_init__(self) -> None:
        self.members = {group: set(people) for group, people in self.world.members.items()}
        self.inside: dict[str, set[str]] = {group: set() for group in self.world.groups}

    def next_revision(self) -> int:
        self.revisions += 1
        return self.revisions

    def line(self, page: str) -> list[Page]:
        """Return a page and all above it."""
        found, name = [], page
        while True:
            found.append(self.pages[name])
            above = self.pages[name].parent
            if above is None:
                return found
            name = above

    def below(self, page: str) -> list[str]:
        """Return a page and all below it."""
        return [p for p in self.pages if self.pages[page] in self.line(p)]

    def in_group(self, person: str, group: str) -> bool:
        """Whether a person is in a group, or in one inside it, however deep and even in circles."""
        seen, waiting = set(), [group]
        while waiting:
            one = waiting.pop()
            if one in seen:
                continue
            seen.add(one)
            if person in self.members[one]:
                return True
            waiting.extend(self.inside[one])
        return False

    def is_one_of(self, person: str, listed: frozenset[str]) -> bool:
        return any(
            name == f"u:{person}" or (name[:2] == "g:" and self.in_group(person, name[7:]))
            for name in listed
        )

    def may_read(self, person: str, page: str) -> bool:
        """The reference."""
        if not self.enabled or person in self.suspended | self.unknown:
            return False
        readers = self.spaces[self.pages[page].space]
        if readers is not None and not self.is_one_of(person, readers):
            return False
        for layer in self.line(page):
            if layer.unclear or self.is_one_of(person, layer.never):
                return False
            if layer.only is not None and not self.is_one_of(person, layer.only):
                return False
        return True

    def readable(self, person: str) -> set[str]:
        """Return all that a person may read, attachments too."""
        mine = [page for page in self.pages if self.may_read(person, page)]
        return {*mine, *(f"{page}!1" for page in mine if self.pages[page].attached)}

    def groups_of(self, person: str) -> frozenset[str]:
        """Return the groups, and some of another source that have the same names as those it is not in."""
        return frozenset(
            f"{'wiki' if self.in_group(person, group) else 'crm'}/{group}"
            for group in self.world.groups
        )
