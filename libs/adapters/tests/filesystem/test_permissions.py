import itertools
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogni_adapters.filesystem.permissions import OneRule, PosixMapping, Rule
from cogni_adapters.filesystem.tree import Kind, Tree
from cogni_domain.access.rule import AccessRule, Unmappable
from cogni_domain.access.tokens import EVERYONE, ReaderToken

USERS = {1001: "ana", 1002: "bo"}
GROUPS = {2001: "hr", 2002: "eng"}
OWN = PosixMapping({os.getuid(): "ana"}.get, {os.getgid(): "hr"}.get)
MANY = PosixMapping(USERS.get, GROUPS.get)

as_root = pytest.mark.skipif(os.getuid() != 0, reason="only root gives files away")


def a_file(root: Path, *, file: int = 0o640, folder: int = 0o750) -> Path:
    path = root / "hr" / "bands.md"
    path.parent.mkdir(exist_ok=True)
    path.touch()
    path.chmod(file)
    path.parent.chmod(folder)
    root.chmod(0o755)
    return path


def rule_of(root: Path, mapping: PosixMapping = OWN) -> Rule:
    (entry,) = (e for e in Tree(root, mapping).walk() if e.kind is Kind.FILE)
    return entry.rule


def explanation(root: Path, mapping: PosixMapping = OWN) -> str:
    rule = rule_of(root, mapping)
    assert isinstance(rule, Unmappable)
    return rule.explanation


@pytest.mark.parametrize(
    ("folder", "file", "expected"),
    [
        (0o755, 0o644, AccessRule.everyone()),
        (0o755, 0o640, AccessRule.any_of("u:ana", "g:posix/hr")),
        (0o750, 0o644, AccessRule.any_of("u:ana", "g:posix/hr")),
        (0o750, 0o640, AccessRule.any_of("u:ana", "g:posix/hr")),
        (0o700, 0o644, AccessRule.any_of("u:ana")),
        (0o755, 0o600, AccessRule.any_of("u:ana")),
        (0o755, 0o000, AccessRule.any_of()),
        (0o311, 0o444, AccessRule.everyone()),
    ],
)
def test_modes_are_mapped_along_the_path(
    tmp_path: Path, folder: int, file: int, expected: AccessRule
) -> None:
    a_file(tmp_path, folder=0o755, file=file)
    mapping = OWN
    (tmp_path / "hr").chmod(folder)

    found = Tree(tmp_path, mapping).find((b"hr", b"bands.md"))

    assert found is not None
    assert found.rule == expected.simplified()


@as_root
def test_each_folder_with_other_readers_is_one_more_clause(tmp_path: Path) -> None:
    file = a_file(tmp_path)
    os.chown(file, 1002, 2002)
    os.chown(file.parent, 1001, 2001)

    expected = AccessRule.any_of("u:ana", "g:posix/hr").restricted_to("u:bo", "g:posix/eng")

    assert rule_of(tmp_path, MANY) == expected.simplified()


def test_the_root_itself_counts_and_what_is_above_it_does_not(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    a_file(root, file=0o644, folder=0o755)
    tmp_path.chmod(0o700)
    assert rule_of(root) == AccessRule.everyone()

    root.chmod(0o700)

    assert rule_of(root) == AccessRule.any_of("u:ana")


@pytest.mark.parametrize(("mode", "who"), [(0o604, "its group"), (0o044, "its owner")])
def test_a_mode_that_takes_from_the_nearer_is_not_mapped(
    tmp_path: Path, mode: int, who: str
) -> None:
    a_file(tmp_path, file=mode, folder=0o755)

    assert f"takes from {who}" in explanation(tmp_path)


def test_an_owner_or_group_without_a_name_is_not_mapped(tmp_path: Path) -> None:
    a_file(tmp_path)
    nobody = PosixMapping(lambda _: None, {os.getgid(): "hr"}.get)
    no_group = PosixMapping({os.getuid(): "ana"}.get, lambda _: None)

    assert "The folder 'hr' above it has an owner without a name" in explanation(tmp_path, nobody)
    assert "a group without a name" in explanation(tmp_path, no_group)


def test_a_name_that_is_not_needed_need_not_be_known(tmp_path: Path) -> None:
    a_file(tmp_path, file=0o644, folder=0o755)

    assert rule_of(tmp_path, PosixMapping(lambda _: None, lambda _: None)) == AccessRule.everyone()


@pytest.mark.parametrize("place", ["hr", "hr/bands.md"])
def test_an_access_list_beside_the_mode_is_not_mapped(tmp_path: Path, place: str) -> None:
    a_file(tmp_path, file=0o644, folder=0o755)
    entry = b"\x02\x00\x00\x00" + b"".join(
        tag.to_bytes(2, "little") + perm.to_bytes(2, "little") + who.to_bytes(4, "little")
        for tag, perm, who in [
            (1, 6, 2**32 - 1),
            (2, 4, 12345),
            (4, 4, 2**32 - 1),
            (16, 4, 2**32 - 1),
            (32, 4, 2**32 - 1),
        ]
    )
    try:
        os.setxattr(tmp_path / place, "system.posix_acl_access", entry)
    except OSError as error:
        pytest.skip(f"no access lists on this file system: {error}")

    assert "access list" in explanation(tmp_path)


def test_one_rule_for_all_does_not_look_at_modes(tmp_path: Path) -> None:
    a_file(tmp_path, file=0o604)
    rule = AccessRule.any_of("g:wiki/hr")

    (entry,) = (e for e in Tree(tmp_path, OneRule(rule)).walk() if e.kind is Kind.FILE)

    assert entry.rule == rule


modes = st.integers(0, 0o7)
layers = st.tuples(
    st.sampled_from(sorted(USERS)), st.sampled_from(sorted(GROUPS)), modes, modes, modes
)
Layer = tuple[int, int, int, int, int]


def kernel_allows(layer: Layer, user: int, groups: frozenset[int], bit: int) -> bool:
    """What path resolution does: the first class that fits decides alone."""
    owner, group, for_owner, for_group, for_others = layer
    if user == owner:
        return bool(for_owner & bit)
    return bool((for_group if group in groups else for_others) & bit)


@as_root
@given(folders=st.lists(layers, min_size=1, max_size=3), file=layers)
def test_nobody_reads_through_the_rule_who_could_not_read_the_file(
    folders: list[Layer], file: Layer, tmp_path_factory: pytest.TempPathFactory
) -> None:
    root = tmp_path_factory.mktemp("posix")
    path = root
    for _ in folders[1:]:
        path = path / "folder"
        path.mkdir()
    target = path / "file"
    target.touch()
    for place, layer in zip((target, *target.parents), (file, *reversed(folders)), strict=False):
        os.chown(place, layer[0], layer[1])
        place.chmod(layer[2] << 6 | layer[3] << 3 | layer[4])

    rule = rule_of(root, MANY)

    for user, *member in itertools.product([*USERS, 1003], [False, True], [False, True]):
        groups = frozenset(g for g, inside in zip(sorted(GROUPS), member, strict=True) if inside)
        allowed = kernel_allows(file, user, groups, 4) and all(
            kernel_allows(layer, user, groups, 1) for layer in folders
        )
        tokens = {ReaderToken(f"u:{USERS.get(user, 'cy')}"), EVERYONE}
        tokens |= {ReaderToken(f"g:posix/{GROUPS[g]}") for g in groups}
        mapped = isinstance(rule, AccessRule) and rule.admits(frozenset(tokens))
        assert not mapped or allowed
        assert isinstance(rule, Unmappable) or mapped == allowed
