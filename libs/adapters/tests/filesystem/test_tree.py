import os
import socket
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogni_adapters.filesystem import tree as tree_module
from cogni_adapters.filesystem.names import RelativePath
from cogni_adapters.filesystem.permissions import OneRule
from cogni_adapters.filesystem.tree import Kind, Tree
from cogni_domain.access.rule import AccessRule

EVERYONE = OneRule(AccessRule.everyone())


def fill(root: Path, *paths: bytes) -> None:
    for path in paths:
        file = root / os.fsdecode(path)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(path)


def files(root: Path, start: RelativePath = (), after: RelativePath = ()) -> list[bytes]:
    entries = Tree(root, EVERYONE).walk(start, after)
    return [b"/".join(entry.path) for entry in entries if entry.kind is Kind.FILE]


def test_files_come_in_the_order_of_their_names_as_bytes(tmp_path: Path) -> None:
    fill(tmp_path, b"b", b"a/2", b"a/10", b"a-b", b"Z", b"caf\xc3\xa9", b"cafe\xcc\x81", b"caf\xe9")

    assert files(tmp_path) == [
        b"Z", b"a/10", b"a/2", b"a-b", b"b", b"cafe\xcc\x81", b"caf\xc3\xa9", b"caf\xe9",
    ]  # fmt: skip


@given(after=st.sampled_from([b"", b"0", b"a", b"a/a", b"a/a/9", b"a/b", b"a/b/", b"aa", b"b/x/y"]))
def test_a_place_need_not_exist_any_more_to_go_on_after_it(
    after: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    root = tmp_path_factory.mktemp("tree")
    fill(root, b"a/a/1", b"a/a/2", b"a/b/1", b"a/c", b"b/x/z", b"c")
    place = tuple(after.split(b"/")) if after else ()

    expected = [p for p in files(root) if tuple(p.split(b"/")) > place]

    assert files(root, after=place) == expected


def test_a_walk_can_start_at_a_folder_or_at_a_file(tmp_path: Path) -> None:
    fill(tmp_path, b"a/1", b"a/2", b"b")

    assert files(tmp_path, start=(b"a",)) == [b"a/1", b"a/2"]
    assert files(tmp_path, start=(b"a", b"2")) == [b"a/2"]
    assert files(tmp_path, start=(b"c", b"2")) == []


def test_hidden_files_and_folders_are_left_out(tmp_path: Path) -> None:
    fill(tmp_path, b".git/config", b".env", b"a/.hidden/secret", b"a/seen")

    assert files(tmp_path) == [b"a/seen"]
    assert files(tmp_path, start=(b".git",)) == []
    assert files(tmp_path, start=(b".env",)) == []


def test_links_lead_nowhere_neither_outside_nor_in_circles(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    fill(root, b"a/1")
    fill(outside, b"secret")
    (root / "out").symlink_to(outside)
    (root / "out.md").symlink_to(outside / "secret")
    (root / "a" / "loop").symlink_to(root)
    (root / "self").symlink_to(root / "self")

    assert files(root) == [b"a/1"]
    assert files(root, start=(b"out",)) == []
    assert files(root, start=(b"out", b"secret")) == []
    with pytest.raises(OSError):  # noqa: PT011 - which one depends on the system
        Tree(root, EVERYONE).open_file((b"out.md",))
    with pytest.raises(OSError):  # noqa: PT011
        Tree(root, EVERYONE).open_file((b"out", b"secret"))


def test_what_is_no_regular_file_is_left_out_and_never_opened(tmp_path: Path) -> None:
    fill(tmp_path, b"a")
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as plug:
        plug.bind(str(tmp_path / "plug"))

        assert files(tmp_path) == [b"a"]
    with pytest.raises(FileNotFoundError):
        Tree(tmp_path, EVERYONE).open_file((b"pipe",))


def test_what_goes_while_a_folder_is_read_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(tmp_path, b"a/1", b"b", b"c")
    real = tree_module._names
    monkeypatch.setattr(tree_module, "_names", lambda f: [*real(f), b"gone", b"gone-too"])

    assert files(tmp_path) == [b"a/1", b"b", b"c"]


def test_a_folder_that_goes_before_its_turn_is_left_out(tmp_path: Path) -> None:
    fill(tmp_path, b"a/1", b"b/1", b"c/1")
    walk = Tree(tmp_path, EVERYONE).walk()
    assert next(walk).path == ()

    (tmp_path / "b" / "1").unlink()
    (tmp_path / "b").rmdir()

    assert [e.path for e in walk if e.kind is Kind.FILE] == [(b"a", b"1"), (b"c", b"1")]


def test_a_deep_tree_is_walked_to_its_end(tmp_path: Path) -> None:
    deep = "d" * 60
    here = tmp_path
    descriptor = os.open(here, os.O_RDONLY)
    for _ in range(120):
        os.mkdir(deep, dir_fd=descriptor)
        below = os.open(deep, os.O_RDONLY, dir_fd=descriptor)
        os.close(descriptor)
        descriptor = below
    os.close(os.open("leaf", os.O_CREAT | os.O_WRONLY, dir_fd=descriptor))
    os.close(descriptor)

    (found,) = (e for e in Tree(here, EVERYONE).walk() if e.kind is Kind.FILE)

    assert len(b"/".join(found.path)) > 4096


def test_a_folder_that_may_not_be_read_is_told_and_the_rest_is_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(tmp_path, b"a", b"closed/1", b"z")
    locked = (tmp_path / "closed").stat().st_ino
    real = tree_module._names

    def names(folder: int) -> list[bytes]:
        if os.fstat(folder).st_ino == locked:
            raise PermissionError
        return real(folder)

    monkeypatch.setattr(tree_module, "_names", names)

    entries = [e for e in Tree(tmp_path, EVERYONE).walk() if e.kind is not Kind.FOLDER]

    assert [(b"/".join(e.path), e.kind) for e in entries] == [
        (b"a", Kind.FILE),
        (b"closed", Kind.CLOSED),
        (b"z", Kind.FILE),
    ]
    after = Tree(tmp_path, EVERYONE).walk(after=(b"closed",))
    assert [e.path for e in after if e.kind is not Kind.FOLDER] == [(b"z",)]


def test_a_root_that_is_gone_is_an_error_and_not_an_empty_folder(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        list(Tree(tmp_path / "nothing", EVERYONE).walk())
