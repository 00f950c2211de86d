"""What Redmine's roles say of an issue's or a note's readers.

A role lets see all issues, all but the private ones, or only those that one wrote or is assigned to; a private
issue is shown to its author and assignee as long as they have a role there at all. Several roles add up. In a
public project, who is no member has the role for that; a member has not. Where an issue is a group's work, people
who may read it by the group's membership of it and a role of their own alone are left out.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from cogni_adapters.rest.fields import flag, items, mapping, text
from cogni_domain.access.rule import AccessRule
from cogni_domain.access.source_accounts import source_account, source_group
from cogni_domain.access.tokens import group_token

SIGNED_IN = "signed-in"
"""The group of every account: ids of Redmine's own groups are numbers."""

ALL, NOT_PRIVATE, OWN = "all", "default", "own"


@dataclass(frozen=True, slots=True)
class Role:
    """What one role lets see.

    Attributes:
        visibility: `all`, `default` or `own`; empty where it lets see no issue.
        private_notes: Whether it lets see private notes.
    """

    visibility: str
    private_notes: bool

    @staticmethod
    def of(answer: object) -> "Role":
        """Read a role."""
        permissions = frozenset(map(str, items(answer, "role", "permissions")))
        visibility = text(answer, "role", "issues_visibility")
        if "view_issues" not in permissions or visibility not in (ALL, NOT_PRIVATE, OWN):
            visibility = ""
        return Role(visibility, "view_private_notes" in permissions)

    def shows(self, issue: "Issue", *, is_concerned: bool) -> bool:
        """Tell whether an issue is seen by who has this role, and perhaps wrote it or works on it."""
        if self.visibility == NOT_PRIVATE:
            return is_concerned or not issue.is_private
        return self.visibility == ALL or (self.visibility == OWN and is_concerned)


@dataclass(frozen=True, slots=True)
class Issue:
    """What an issue says of its readers itself.

    Attributes:
        concerned: Ids of its author and its assignee, who may be a group: no id is both.
    """

    is_private: bool
    concerned: frozenset[str]

    @staticmethod
    def of(issue: object) -> "Issue":
        """Read an issue."""
        named = [mapping(issue).get(name) for name in ("author", "assigned_to")]
        return Issue(flag(issue, "is_private"), frozenset(text(n, "id") for n in named if n))


@dataclass(frozen=True, slots=True)
class Member:
    """A person or a group in a project; a person in a member group is a member too, with inherited roles.

    Attributes:
        own: Roles that were given to itself.
        roles: Those and the inherited ones.
    """

    id: str
    is_group: bool
    own: tuple[Role, ...]
    roles: tuple[Role, ...]


@dataclass(frozen=True, slots=True)
class Project:
    """Who has which role in a project.

    Attributes:
        outsider: The role of who is no member; None where the project is not public.
    """

    authority: str
    members: Sequence[Member]
    outsider: Role | None

    def issue_rule(self, issue: Issue) -> AccessRule:
        """Return who may read an issue."""
        found = {self._token(m) for m in self.members if _any_shows(m.own, issue, concerned=False)}
        for member in self.members:
            if member.id in issue.concerned and _any_shows(member.roles, issue, concerned=True):
                found.add(self._token(member))
        if self.outsider is None:
            return AccessRule.any_of(*found)
        found |= self._concerned_outsiders(issue)
        if not self.outsider.shows(issue, is_concerned=False):
            return AccessRule.any_of(*found)
        return AccessRule.any_of(*found, self._everybody).except_for(*self._worse_off(issue))

    def note_rule(self, issue: Issue, author: str, *, is_private: bool) -> AccessRule:
        """Return who may read a note: a private one only its author and who has a role for that."""
        rule = self.issue_rule(issue)
        if not is_private:
            return rule.simplified()
        found = {self._token(m) for m in self.members if any(r.private_notes for r in m.own)}
        if self.outsider is not None and self.outsider.private_notes:
            found.add(self._everybody)
        return rule.restricted_to(*found, self._account(author)).simplified()

    def _concerned_outsiders(self, issue: Issue) -> set[str]:
        inside = {member.id for member in self.members}
        assert self.outsider is not None
        if not self.outsider.shows(issue, is_concerned=True):
            return set()
        return {self._account(name) for name in issue.concerned - inside}

    def _worse_off(self, issue: Issue) -> set[str]:
        """Return members who see less than who is none."""
        return {
            self._token(member)
            for member in self.members
            if not member.is_group
            and not _any_shows(member.roles, issue, concerned=member.id in issue.concerned)
        }

    @property
    def _everybody(self) -> str:
        return group_token(source_group(self.authority, SIGNED_IN))

    def _account(self, name: str) -> str:
        return group_token(source_account(self.authority, name))

    def _token(self, member: Member) -> str:
        named = source_group if member.is_group else source_account
        return group_token(named(self.authority, member.id))


def _any_shows(roles: Iterable[Role], issue: Issue, *, concerned: bool) -> bool:
    return any(role.shows(issue, is_concerned=concerned) for role in roles)
