"""Who reads an issue, held to each person's own view of it."""

from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from cogni_adapters.ticketing.redmine_permissions import Issue, Member, Project, Role
from cogni_domain.access.rule import AccessRule
from cogni_domain.access.source_accounts import source_account, source_group
from cogni_domain.access.tokens import EVERYONE, ReaderToken, group_token

SITE = "tickets.acme.example"
GROUP = "90"
PEOPLE = ("1", "2", "3")

role = st.builds(Role, st.sampled_from(["", "own", "default", "all"]), st.booleans())
roles = st.lists(role, max_size=2).map(tuple)


@dataclass(frozen=True)
class World:
    """One project: roles given to people and to the group, and who is in the group."""

    given: dict[str, tuple[Role, ...]]
    group: tuple[Role, ...]
    inside: frozenset[str]
    outsider: Role | None

    def roles_of(self, person: str) -> tuple[Role, ...]:
        return self.given.get(person, ()) + (self.group if person in self.inside else ())

    def is_member(self, person: str) -> bool:
        return bool(self.roles_of(person))

    def project(self) -> Project:
        people = [
            Member(p, False, self.given.get(p, ()), self.roles_of(p))
            for p in PEOPLE
            if self.is_member(p)
        ]
        group = [Member(GROUP, True, self.group, self.group)] if self.group else []
        return Project(SITE, people + group, self.outsider)

    def counting(self, person: str) -> tuple[Role, ...]:
        if self.is_member(person):
            return self.roles_of(person)
        return () if self.outsider is None else (self.outsider,)

    def sees(self, person: str, issue: Issue) -> bool:
        own = {person, *({GROUP} if person in self.inside else ())}
        concerned = bool(own & issue.concerned)
        return any(
            r.visibility == "all"
            or (r.visibility == "default" and (concerned or not issue.is_private))
            or (r.visibility == "own" and concerned)
            for r in self.counting(person)
        )

    def tokens(self, person: str) -> frozenset[ReaderToken]:
        groups = {"signed-in", *({GROUP} if person in self.inside else ())}
        named = {source_account(SITE, person), *(source_group(SITE, g) for g in groups)}
        return frozenset({EVERYONE, *map(group_token, named)})


worlds = st.builds(
    World,
    st.dictionaries(st.sampled_from(PEOPLE), roles, max_size=3),
    roles,
    st.frozensets(st.sampled_from(PEOPLE)),
    st.none() | role,
)
issues = st.builds(
    Issue, st.booleans(), st.frozensets(st.sampled_from((*PEOPLE, GROUP)), max_size=2)
)


def is_unsure(issue: Issue) -> bool:
    """Who works on an issue through a group, but reads by a role of their own, is not told: nothing is shown more."""
    return GROUP in issue.concerned


@given(worlds, issues)
def test_whoever_redmine_shows_an_issue_may_read_it_and_nobody_else(
    world: World, issue: Issue
) -> None:
    rule = world.project().issue_rule(issue)

    for person in PEOPLE:
        found, sees = rule.admits(world.tokens(person)), world.sees(person, issue)
        assert sees or not found
        if not is_unsure(issue):
            assert found == sees


@given(worlds, issues, st.sampled_from(PEOPLE), st.booleans())
def test_a_private_note_is_its_authors_and_theirs_whose_role_says_so(
    world: World, issue: Issue, author: str, is_private: bool
) -> None:
    rule = world.project().note_rule(issue, author, is_private=is_private)

    for person in PEOPLE:
        trusted = person == author or any(r.private_notes for r in world.counting(person))
        if world.outsider is not None and world.outsider.private_notes and world.is_member(person):
            continue
        found = rule.admits(world.tokens(person))
        expected = world.sees(person, issue) and (trusted or not is_private)
        assert expected or not found
        if not is_unsure(issue):
            assert found == expected


def test_who_has_no_account_reads_nothing_of_a_public_project() -> None:
    project = Project(SITE, [], Role("all", private_notes=True))

    assert not project.issue_rule(Issue(False, frozenset())).admits(frozenset({EVERYONE}))


def test_a_group_that_is_assigned_reads_what_it_works_on() -> None:
    own = (Role("own", private_notes=False),)
    project = Project(SITE, [Member(GROUP, True, own, own)], None)

    token = group_token(source_group(SITE, GROUP))
    assert project.issue_rule(Issue(True, frozenset({GROUP}))) == AccessRule.any_of(token)
    assert project.issue_rule(Issue(True, frozenset({"1"}))) == AccessRule.any_of()
