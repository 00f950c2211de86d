"""DokuWiki's access lists, held to the order in which DokuWiki itself looks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogni_adapters.wiki.permissions import AclLine, DokuWikiAcl, acl_lines, scopes_of
from cogni_domain.access.rule import AccessRule, Unmappable
from cogni_domain.access.source_accounts import source_account, source_group
from cogni_domain.access.tokens import EVERYONE, ReaderToken, group_token

SITE = "wiki.acme.example"
PAGES = ("start", "hr:policy", "hr:pay:bands")
SCOPES = ("*", "hr:*", "hr:pay:*", *PAGES)
PEOPLE = ("ana", "bob")
GROUPS = ("hr", "eng", "user")


def acl(text: str) -> DokuWikiAcl:
    return DokuWikiAcl(SITE, acl_lines(text))


def tokens(person: str, *groups: str) -> frozenset[ReaderToken]:
    own = {source_account(SITE, person), *(source_group(SITE, group) for group in groups)}
    return frozenset({EVERYONE, *map(group_token, own)})


def reads(text: str, page: str, person: str, *groups: str) -> bool:
    rule = acl(text).rule_of(page)
    assert isinstance(rule, AccessRule)
    return rule.admits(tokens(person, *groups))


def level(lines: list[AclLine], page: str, names: set[str]) -> int:
    """The nearest place with an entry for one of the names decides, and there the highest."""
    for scope in scopes_of(page):
        matching = [x.level or 0 for x in lines if x.scope == scope and x.subject in names]
        if matching:
            return max(matching)
    return 0


line = st.builds(
    AclLine,
    st.sampled_from(SCOPES),
    st.sampled_from([*PEOPLE, *(f"@{group}" for group in GROUPS), "@ALL"]),
    st.sampled_from([0, 0, 1, 2, 16]),
)


@given(
    st.lists(line, max_size=12),
    st.sampled_from(PAGES),
    st.sampled_from(PEOPLE),
    st.sets(st.sampled_from(GROUPS)),
)
def test_whoever_the_wiki_lets_read_may_read_and_nobody_else(
    lines: list[AclLine], page: str, person: str, groups: set[str]
) -> None:
    rule = DokuWikiAcl(SITE, lines).rule_of(page)
    if isinstance(rule, Unmappable):
        return
    names = {person, "@ALL", *(f"@{group}" for group in groups)}

    assert rule.admits(tokens(person, *groups)) == (level(lines, page, names) >= 1)


@given(st.lists(line.filter(lambda x: (x.level or 0) > 0), max_size=12), st.sampled_from(PAGES))
def test_a_list_that_only_allows_can_always_be_mapped(lines: list[AclLine], page: str) -> None:
    assert isinstance(DokuWikiAcl(SITE, lines).rule_of(page), AccessRule)


USUAL = """# acl.auth.php
# <?php exit()?>
*\t@ALL\t0
*\t@user\t1
hr:*   @user 0
hr:*   @hr   1
hr:pay:* @hr 0    # but for
hr:pay:* ana 16
"""


def test_the_usual_ways_to_close_a_namespace_need_no_deny() -> None:
    rules = [acl(USUAL).rule_of(page) for page in PAGES]

    assert [r.readers for r in rules if isinstance(r, AccessRule)] == [
        {group_token(source_group(SITE, "user"))},
        {group_token(source_group(SITE, "hr"))},
        {group_token(source_account(SITE, "ana"))},
    ]


def test_a_persons_zero_loses_to_a_groups_one_beside_it_and_wins_when_nearer() -> None:
    assert reads("hr:* @hr 1\nhr:* cleo 0", "hr:policy", "cleo", "hr")
    assert not reads("hr:* @hr 1\nhr:policy cleo 0", "hr:policy", "cleo", "hr")


def test_a_group_denied_within_what_all_may_read_is_a_deny() -> None:
    text = "* @ALL 1\nhr:* @contractor 0"

    assert reads(text, "hr:policy", "ana", "user")
    assert not reads(text, "hr:policy", "dan", "user", "contractor")


def test_nobody_is_not_everybody() -> None:
    rule = acl("* @ALL 0").rule_of("start")

    assert rule == AccessRule.any_of()
    assert acl("").rule_of("start") == AccessRule.any_of()


def test_one_person_allowed_out_of_a_denied_group_cannot_be_mapped() -> None:
    assert isinstance(acl("* @ALL 1\nhr:* @con 0\nhr:* boss 1").rule_of("hr:x"), Unmappable)


def test_a_group_wildcard_is_whose_name_stands_in_the_place() -> None:
    text = "* @ALL 0\n%GROUP% @ALL 1\n%GROUP%:* %GROUP% 16"

    for page in ("team1", "team1:plan"):
        assert reads(text, page, "ana", "user", "team1")
        assert not reads(text, page, "bob", "user")


def test_a_person_wildcard_is_that_persons_alone() -> None:
    text = "* @ALL 0\nuser:%USER%:* %USER% 16"

    assert reads(text, "user:ana:diary", "ana", "user")
    assert not reads(text, "user:ana:diary", "bob", "user")


@pytest.mark.parametrize(
    "text",
    [
        "* %USER% 1",
        "* %GROUP% 1",
        "hr:* @hr read",
        "%GROUP%:* %GROUP% 0",
        "%GROUP%:%USER% @ALL 1\nhr:* %USER% 1",
        "%USER%:* @hr 1",
    ],
)
def test_what_depends_on_who_asks_or_has_no_number_cannot_be_mapped(text: str) -> None:
    assert isinstance(acl(text).rule_of("hr:policy"), Unmappable)


def test_an_entry_for_another_place_troubles_nobody() -> None:
    assert isinstance(acl("* @ALL 1\neng:* %USER% 1").rule_of("hr:policy"), AccessRule)


def test_names_are_decoded() -> None:
    assert reads("* @Domain%20Users 1", "start", "ana", "Domain Users")
    assert reads("* j%2edoe 1", "start", "j.doe")


def test_a_line_without_a_level_is_no_entry_as_in_the_wiki_itself() -> None:
    assert acl_lines("hr:* @hr\n\n# hr:* @ALL 1\n* @ALL 1") == (AclLine("*", "@ALL", 1),)


def test_a_list_that_grows_without_bound_is_given_up() -> None:
    many = "\n".join(f"{'a:' * d}* @g{d}x{n} {n % 2}" for d in range(12) for n in range(60))

    assert isinstance(acl(many).rule_of("a:" * 12 + "x"), Unmappable | AccessRule)
