import json
import os
from pathlib import Path

import pytest

from cogni_embedded.data_folder import DataFolder, Holder
from cogni_kernel import ConflictError, InvalidArgumentError, NotFoundError
from cogni_testing import err, ok


def test_one_holds_the_folder_and_the_next_is_told_who(tmp_path: Path) -> None:
    with DataFolder(tmp_path) as first, DataFolder(tmp_path) as second:
        ok(first.hold())
        first.announce("http://127.0.0.1:8080")

        refused = err(second.hold(), ConflictError)

        assert ok(second.try_to_hold()) is False
        assert second.holder() == Holder("http://127.0.0.1:8080", os.getpid())
        assert f"process {os.getpid()} at http://127.0.0.1:8080" in str(refused.message)


def test_who_holds_it_already_holds_it(tmp_path: Path) -> None:
    with DataFolder(tmp_path) as folder:
        ok(folder.hold())

        assert ok(folder.try_to_hold()) is True


def test_what_was_let_go_can_be_held_again(tmp_path: Path) -> None:
    with DataFolder(tmp_path) as first:
        ok(first.hold())
        first.announce("http://127.0.0.1:8080")

    with DataFolder(tmp_path) as second:
        ok(second.hold())
        assert second.holder() is None


def test_the_address_of_a_process_that_was_killed_is_forgotten(tmp_path: Path) -> None:
    (tmp_path / "server.json").write_text(json.dumps({"url": "http://127.0.0.1:1", "pid": 1}))

    with DataFolder(tmp_path) as folder:
        ok(folder.hold())
        assert folder.holder() is None


@pytest.mark.parametrize(
    "content", ["", "{", "[]", '{"url": 1}', '{"url": "x", "pid": "y"}', "null", "7"]
)
def test_an_address_that_cannot_be_read_is_none(tmp_path: Path, content: str) -> None:
    (tmp_path / "server.json").write_text(content)

    assert DataFolder(tmp_path).holder() is None


def test_a_folder_is_found_or_made(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path / "a" / "b")

    assert "cogni run" in str(err(folder.find(), NotFoundError).message)
    ok(folder.create())
    ok(folder.create())
    ok(folder.find())


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    folder = DataFolder(tmp_path / "file")

    err(folder.find(), NotFoundError)
    err(folder.create(), InvalidArgumentError)
    err(folder.hold(), InvalidArgumentError)
