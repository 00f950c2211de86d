"""What a wiki's permissions say of a page's readers, as an access rule; or that it cannot be told.

DokuWiki: of a page's own entries, its namespace's and those above, only the nearest that name a person count,
and there the highest of them, be it the person's own or a group's. Confluence: a reader passes the space's
permission, the page's restriction and that of every page above it.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias
from urllib.parse import unquote

from cogni_adapters.rest.fields import text
from cogni_adapters.wiki.layered import Level, rule_of
from cogni_domain.access.rule import AccessRule, Unmappable
from cogni_domain.access.source_accounts import source_account, source_group
from cogni_domain.access.tokens import EVERYONE, group_token

READ = 1
ALL = "@ALL"
PERSON, GROUP = "%USER%", "%GROUP%"

NO_LEVEL = "An entry of its access list has no level that is a number: {!r}. Correct it."
WILDCARD = "An entry of its access list holds for whoever asks: {!r}. Name the readers instead."

NOT_NAMED = (
    "The space lets in readers of a kind that cannot be mapped: {!r}. Name people or groups there."
)
UNREAD_LAYER = Unmappable(
    "The restrictions of the page, or of one above it, cannot be read. Let this service's account see them."
)

Layer: TypeAlias = frozenset[str] | None
"""The tokens that one place restricts its readers to; None where it restricts nobody."""


@dataclass(frozen=True, slots=True)
class AclLine:
    """One entry: of a page, of `namespace:*`, or of `*`.

    Attributes:
        level: 0 none, 1 read, more for writing; None where the list says no number.
    """

    scope: str
    subject: str
    level: int | None


def acl_lines(file: str) -> tuple[AclLine, ...]:
    """Read `acl.auth.php` as DokuWiki does: what has no level after its subject is no entry."""
    found: list[AclLine] = []
    for line in map(str.strip, file.splitlines()):
        if not line or line.startswith("#"):
            continue
        scope, *rest = re.split(r"[ \t]+", line)
        if len(rest) > 1:
            level = re.sub(r"#.*$", "", rest[1])
            found.append(AclLine(scope, rest[0], int(level) if level.isdecimal() else None))
    return tuple(found)


class DokuWikiAcl:
    """One reading of a wiki's whole access list.

    Args:
        authority: What its accounts and groups are qualified by.
    """

    def __init__(self, authority: str, lines: Sequence[AclLine]) -> None:
        self._authority = authority
        self._plain: dict[str, list[AclLine]] = {}
        self._wild: list[tuple[Callable[[str], str | None], AclLine]] = []
        for line in lines:
            if PERSON in line.scope or GROUP in line.scope:
                self._wild.append((_captures(line.scope), line))
            else:
                self._plain.setdefault(line.scope, []).append(line)
        self._known: dict[tuple[Level, ...], AccessRule | Unmappable] = {}

    def rule_of(self, page: str) -> AccessRule | Unmappable:
        """Return who may read a page, by its id."""
        levels: list[Level] = []
        for scope in scopes_of(page):
            level = self._level(scope)
            if isinstance(level, Unmappable):
                return level
            if level.allowed or level.denied:
                levels.append(level)
            if EVERYONE in level.allowed | level.denied:
                break
        key = tuple(levels)
        if key not in self._known:
            self._known[key] = rule_of(key)
        return self._known[key]

    def _level(self, scope: str) -> Level | Unmappable:
        allowed: set[str] = set()
        denied: set[str] = set()
        wild = [(line, name) for capture, line in self._wild if (name := capture(scope))]
        for line, name in [*((line, "") for line in self._plain.get(scope, ())), *wild]:
            token = self._wild_token(line, name) if name else self._token(line.subject)
            if line.level is None:
                return Unmappable(NO_LEVEL.format(line.scope))
            if token is None or (name and line.level < READ):
                return Unmappable(WILDCARD.format(line.scope))
            (allowed if line.level >= READ else denied).add(token)
        return Level(frozenset(allowed), frozenset(denied))

    def _token(self, subject: str) -> str | None:
        if subject == ALL:
            return EVERYONE
        if PERSON in subject or GROUP in subject:
            return None
        name = unquote(subject)
        if name.startswith("@"):
            return group_token(source_group(self._authority, name[1:]))
        return group_token(source_account(self._authority, name))

    def _wild_token(self, line: AclLine, name: str) -> str | None:
        """Return who an entry like `%GROUP%:* @ALL` lets in at one place: those whose wildcard names it."""
        wildcard = PERSON if PERSON in line.scope else GROUP
        if line.subject not in (ALL, wildcard) or (PERSON in line.scope and GROUP in line.scope):
            return None
        named = source_account if wildcard == PERSON else source_group
        return group_token(named(self._authority, name))


def scopes_of(page: str) -> list[str]:
    """Return where entries for a page may stand, the nearest first.

    >>> scopes_of("hr:salary:bands")
    ['hr:salary:bands', 'hr:salary:*', 'hr:*', '*']
    """
    parts = page.split(":")[:-1]
    above = [":".join([*parts[:length], "*"]) for length in range(len(parts), -1, -1)]
    return [page, *above]


def _captures(scope: str) -> Callable[[str], str | None]:
    """Return what reads the name that a wildcard stands for out of a place."""
    parts = re.split(f"{PERSON}|{GROUP}", scope)
    pattern = re.compile("([^:*]+)".join(map(re.escape, parts)))

    def capture(place: str) -> str | None:
        match = pattern.fullmatch(place)
        return match[1] if match and len({*match.groups()}) == 1 else None

    return capture


def confluence_space(authority: str, permissions: Sequence[object]) -> AccessRule | Unmappable:
    """Return who may read in a space, of the permissions that it gives: nobody where none is to read."""
    tokens: set[str] = set()
    for permission in permissions:
        operation = (
            text(permission, "operation", "key"),
            text(permission, "operation", "targetType"),
        )
        if operation != ("read", "space"):
            continue
        kind, name = text(permission, "principal", "type"), text(permission, "principal", "id")
        if kind not in ("user", "group"):
            return Unmappable(NOT_NAMED.format(kind))
        tokens.add(_confluence_token(authority, kind, name))
    return AccessRule.any_of(*tokens)


def confluence_layer(authority: str, users: Sequence[object], groups: Sequence[object]) -> Layer:
    """Return what a page's own restriction of reading says; without anybody it says nothing."""
    tokens = {_confluence_token(authority, "user", text(user, "accountId")) for user in users}
    tokens |= {_confluence_token(authority, "group", text(group, "id")) for group in groups}
    return frozenset(tokens) or None


def confluence_page(
    space: AccessRule | Unmappable, layers: Sequence[Layer]
) -> AccessRule | Unmappable:
    """Return who may read a page: who passes the space and every restricted layer."""
    if isinstance(space, Unmappable):
        return space
    rule = space
    for layer in layers:
        rule = rule if layer is None else rule.restricted_to(*layer)
    return rule.simplified()


def _confluence_token(authority: str, kind: str, name: str) -> str:
    named = source_account if kind == "user" else source_group
    return group_token(named(authority, name))
