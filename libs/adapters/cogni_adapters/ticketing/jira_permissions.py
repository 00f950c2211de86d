"""What Jira's permissions say of an issue's or a comment's readers.

A reader may browse the project, and passes the issue's security level where it has one; for a comment that is
shown to a role or a group alone, that too.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cogni_adapters.rest.fields import items, mapping, text
from cogni_domain.access.rule import AccessRule, Unmappable
from cogni_domain.access.source_accounts import source_account, source_group
from cogni_domain.access.tokens import EVERYONE, group_token

BROWSE = "BROWSE_PROJECTS"

UNKNOWN_HOLDER = (
    "Its project or its security level lets in readers of a kind that cannot be mapped: {!r}. Name roles,"
    " groups or people there."
)
UNNAMED = Unmappable("The comment is shown to a role or group that is given by its name alone.")
UNREAD = Unmappable(
    "Who may read it cannot be told: this service's account may not see its project's permissions."
)


@dataclass(frozen=True, slots=True)
class Concerned:
    """Who an issue names itself: accounts, where it names anybody."""

    reporter: str | None
    assignee: str | None
    lead: str | None


class JiraTokens:
    """The reader tokens of one site.

    Args:
        authority: What its accounts and groups are qualified by.
    """

    def __init__(self, authority: str) -> None:
        self._authority = authority

    def account(self, name: str) -> str:
        return group_token(source_account(self._authority, name))

    def group(self, name: str) -> str:
        return group_token(source_group(self._authority, name))

    def of_role(self, role: object) -> frozenset[str]:
        """Return who holds a project role: people and groups by their ids."""
        found: set[str] = set()
        for actor in items(role, "actors"):
            if "actorUser" in mapping(actor):
                found.add(self.account(text(actor, "actorUser", "accountId")))
            else:
                found.add(self.group(text(actor, "actorGroup", "groupId")))
        return frozenset(found)

    def of_holder(
        self, holder: object, concerned: Concerned, roles: Mapping[str, frozenset[str]]
    ) -> frozenset[str] | Unmappable:
        """Return whom one entry of a permission scheme or a security level lets in."""
        kind = text(holder, "type")
        named = {
            "reporter": concerned.reporter,
            "assignee": concerned.assignee,
            "projectLead": concerned.lead,
        }
        if kind in named:
            name = named[kind]
            return frozenset() if name is None else frozenset({self.account(name)})
        if kind == "anyone":
            return frozenset({EVERYONE})
        if kind == "projectRole":
            return roles[text(holder, "value")]
        if kind in ("user", "group") and mapping(holder).get("value"):
            name = text(holder, "value")
            return frozenset({self.account(name) if kind == "user" else self.group(name)})
        return Unmappable(UNKNOWN_HOLDER.format(kind))

    def layer(
        self,
        holders: Sequence[object],
        concerned: Concerned,
        roles: Mapping[str, frozenset[str]],
    ) -> AccessRule | Unmappable:
        """Return whom any of several entries lets in: nobody where there are none."""
        found: set[str] = set()
        for holder in holders:
            tokens = self.of_holder(holder, concerned, roles)
            if isinstance(tokens, Unmappable):
                return tokens
            found |= tokens
        return AccessRule.any_of(*found)


def both(one: AccessRule | Unmappable, other: AccessRule | Unmappable) -> AccessRule | Unmappable:
    """Return who passes two layers; a layer that cannot be mapped lets nothing be."""
    if isinstance(one, Unmappable):
        return one
    return other if isinstance(other, Unmappable) else one.both(other).simplified()


def roles_of(holders: Sequence[object]) -> frozenset[str]:
    """Return the ids of the project roles that entries name."""
    return frozenset(text(h, "value") for h in holders if text(h, "type") == "projectRole")
