import asyncio
import os
import shutil
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from cogni_adapters.filesystem import follow
from cogni_adapters.filesystem.connector import FilesystemConnectorAdapter
from cogni_adapters.filesystem.permissions import PosixMapping
from cogni_domain.access.rule import AccessRule
from cogni_domain.knowledge.extracted import ExtractedDocument, Skipped
from cogni_domain.knowledge.source import ChangeEvent, ChangeKind
from cogni_domain.ports.extractor import ExtractorPort
from cogni_testing.contracts.connector import PATIENCE_S

OWN = PosixMapping({os.getuid(): "ana"}.get, {os.getgid(): "hr"}.get)


class Unused(ExtractorPort):
    async def extract(self, name: str, data: bytes) -> ExtractedDocument | Skipped:
        raise AssertionError("following reads no content")


def connector(root: Path) -> FilesystemConnectorAdapter:
    return FilesystemConnectorAdapter(root, OWN, Unused())


@pytest.fixture(autouse=True)
def a_short_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(follow, "FIRST_PAUSE_S", 0.1)


class Followed:
    """Changes of a folder, collected until they are as expected."""

    def __init__(self, source: FilesystemConnectorAdapter) -> None:
        self._changes = source.changes()
        self._task = asyncio.ensure_future(self._collect())
        self.seen: list[ChangeEvent] = []

    async def _collect(self) -> None:
        async for change in self._changes:
            self.seen.append(change)

    async def until(self, *expected: tuple[ChangeKind, str]) -> None:
        async with asyncio.timeout(PATIENCE_S):
            while not set(expected) <= {(c.kind, c.source_id) for c in self.seen}:
                await asyncio.sleep(0.02)

    async def started(self, root: Path) -> None:
        """Wait until changes are told, by making one."""
        async with asyncio.timeout(PATIENCE_S):
            n = 0
            while not self.seen:
                (root / f"started{(n := n + 1)}").touch()
                await asyncio.sleep(0.1)
        await asyncio.sleep(0.7)
        self.seen.clear()

    async def end(self) -> None:
        self._task.cancel()
        await asyncio.wait([self._task])


@pytest.fixture
async def followed(tmp_path: Path) -> AsyncIterator[Followed]:
    tmp_path.chmod(0o755)
    for name in ("hr/pay/bands.md", "hr/leave.md", "plan.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("Before.")
    for place in (tmp_path / "hr", tmp_path / "hr" / "pay"):
        place.chmod(0o755)
    follows = Followed(connector(tmp_path))
    await follows.started(tmp_path)
    yield follows
    await follows.end()


DELETED, EDITED = ChangeKind.DELETED, ChangeKind.EDITED
MOVED, ACL = ChangeKind.MOVED, ChangeKind.ACL_CHANGED


async def test_a_folder_that_goes_takes_every_file_with_it(
    tmp_path: Path, followed: Followed
) -> None:
    (tmp_path / "hr").rename(tmp_path.parent / f"{tmp_path.name}-elsewhere")

    await followed.until((DELETED, "hr/pay/bands.md"), (DELETED, "hr/leave.md"))

    assert all(c.kind is DELETED for c in followed.seen)


async def test_a_folder_with_other_readers_changes_every_file_in_it(
    tmp_path: Path, followed: Followed
) -> None:
    (tmp_path / "hr").chmod(0o700)

    await followed.until((ACL, "hr/pay/bands.md"), (ACL, "hr/leave.md"))

    (pay,) = [c for c in followed.seen if c.source_id == "hr/pay/bands.md"]
    assert pay.document is not None
    assert pay.document.rule == AccessRule.any_of("u:ana")


async def test_a_file_that_moves_is_told_with_the_rule_of_where_it_is(
    tmp_path: Path, followed: Followed
) -> None:
    (tmp_path / "hr").chmod(0o700)
    await followed.until((ACL, "hr/leave.md"))

    (tmp_path / "plan.md").rename(tmp_path / "hr" / "the plan.md")

    await followed.until((MOVED, "plan.md"))
    (moved,) = [c for c in followed.seen if c.kind is MOVED]
    assert moved.was_named == "plan.md"
    assert moved.document is not None
    assert (moved.document.source_id, moved.document.rule) == (
        "hr/the%20plan.md",
        AccessRule.any_of("u:ana"),
    )


async def test_a_folder_that_moves_takes_every_file_along(
    tmp_path: Path, followed: Followed
) -> None:
    (tmp_path / "hr").rename(tmp_path / "people")

    await followed.until((MOVED, "hr/pay/bands.md"), (MOVED, "hr/leave.md"))

    assert {c.document.source_id for c in followed.seen if c.document} == {
        "people/pay/bands.md",
        "people/leave.md",
    }


async def test_a_copy_put_in_the_place_of_a_file_is_no_move(
    tmp_path: Path, followed: Followed
) -> None:
    (tmp_path / "copy.md").write_text((tmp_path / "plan.md").read_text())
    (tmp_path / "plan.md").unlink()

    await followed.until((DELETED, "plan.md"), (EDITED, "copy.md"))


async def test_a_new_folder_is_followed_too(tmp_path: Path, followed: Followed) -> None:
    (tmp_path / "new" / "deep").mkdir(parents=True)
    (tmp_path / "new" / "deep" / "one.md").touch()
    await followed.until((EDITED, "new/deep/one.md"))

    (tmp_path / "new" / "deep" / "two.md").touch()

    await followed.until((EDITED, "new/deep/two.md"))


async def test_a_name_that_is_no_text_is_followed_all_the_same(
    tmp_path: Path, followed: Followed
) -> None:
    (tmp_path / os.fsdecode(b"caf\xe9.md")).touch()
    await followed.until((EDITED, "caf%E9.md"))

    (tmp_path / "plan.md").write_text("After, and longer.")

    await followed.until((EDITED, "plan.md"))


async def test_hidden_files_and_what_links_point_to_are_not_told(
    tmp_path: Path, followed: Followed
) -> None:
    outside = tmp_path.parent / f"{tmp_path.name}-outside"
    outside.mkdir()
    (tmp_path / "link").symlink_to(outside)
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "index").touch()
    (outside / "secret").touch()
    (tmp_path / "plan.md").write_text("After, and longer.")

    await followed.until((EDITED, "plan.md"))

    assert {c.source_id for c in followed.seen} == {"plan.md"}


@pytest.mark.parametrize("replaced", [False, True])
async def test_a_root_that_is_moved_away_ends_it_and_deletes_nothing(
    tmp_path: Path, followed: Followed, replaced: bool
) -> None:
    moved = tmp_path.rename(tmp_path.parent / f"{tmp_path.name}-moved")
    if replaced:
        tmp_path.mkdir()
    (moved / "plan.md").write_text("After, and longer.")

    await asyncio.wait_for(asyncio.shield(followed._task), PATIENCE_S)

    assert not [c for c in followed.seen if c.kind is DELETED]


async def test_a_disk_below_that_is_taken_away_deletes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(follow, "COMPARE_ALL_AFTER_S", 0.2)
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(disk)]
    if shutil.which("mount") is None or subprocess.run(mount, check=False).returncode != 0:
        pytest.skip("no disk can be mounted here")
    try:
        (disk / "kept.md").write_text("Kept.")
        follows = Followed(connector(tmp_path))
        await follows.started(tmp_path)
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=True)
    (disk / "now.md").write_text("Under the disk.")
    (tmp_path / "plan.md").write_text("New.")

    await follows.until((EDITED, "plan.md"), (EDITED, "disk/now.md"))

    assert not [c for c in follows.seen if c.kind is DELETED]
    await follows.end()


async def test_everything_is_compared_now_and_then(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(follow, "COMPARE_ALL_AFTER_S", 0.2)
    monkeypatch.setattr(follow, "_relative", lambda root, path: (b"nowhere",))
    (tmp_path / "plan.md").write_text("Before.")
    follows = Followed(connector(tmp_path))
    await follows.started(tmp_path)

    (tmp_path / "plan.md").write_text("After, and longer.")

    await follows.until((EDITED, "plan.md"))
    await follows.end()
