import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from cogni_adapters.filesystem.connector import (
    MAX_BYTES,
    FilesystemConnectorAdapter,
    _moment,
    identity,
)
from cogni_adapters.filesystem.permissions import PosixMapping
from cogni_adapters.filesystem.tree import Tree
from cogni_domain.access.rule import AccessRule, Unmappable
from cogni_domain.knowledge.extracted import (
    Block,
    BlockKind,
    ExtractedDocument,
    Reason,
    Skipped,
)
from cogni_domain.knowledge.source import SourceDocument
from cogni_domain.ports.extractor import ExtractorPort
from cogni_kernel import NotFoundError, UpstreamError
from cogni_testing import err, ok
from cogni_testing.contracts.connector import ConnectorContract

EVERYONE = AccessRule.everyone()
OWN = PosixMapping({os.getuid(): "ana"}.get, {os.getgid(): "hr"}.get)


class PlainText(ExtractorPort):
    async def extract(self, name: str, data: bytes) -> ExtractedDocument | Skipped:
        blocks = (Block(BlockKind.PARAGRAPH, data.decode("utf-8", "replace")),)
        return ExtractedDocument(name, blocks, "text/plain")


def connector(
    root: Path, readers: AccessRule | PosixMapping = EVERYONE, page_size: int = 10
) -> FilesystemConnectorAdapter:
    return FilesystemConnectorAdapter(root, readers, PlainText(), page_size=page_size)


class TestFilesystemConnector(ConnectorContract):
    @pytest.fixture(autouse=True)
    def a_folder_of_its_own(self, tmp_path: Path) -> None:
        self.root = tmp_path

    def make_connector(self, texts: Mapping[str, str]) -> FilesystemConnectorAdapter:
        for name, text in texts.items():
            self.write(name, text)
        return self.reopen()

    def reopen(self) -> FilesystemConnectorAdapter:
        return connector(self.root)

    def write(self, name: str, text: str) -> None:
        (self.root / name).write_text(text)

    def remove(self, name: str) -> None:
        (self.root / name).unlink()


async def everything(source: FilesystemConnectorAdapter) -> list[SourceDocument]:
    found: list[SourceDocument] = []
    cursor: str | None = None
    while True:
        page = ok(await source.enumerate(cursor))
        found += page.documents
        if (cursor := page.next_cursor) is None:
            return found


async def test_names_in_any_bytes_are_listed_and_read(tmp_path: Path) -> None:
    names = [
        b"Caf\xc3\xa9.md",
        b"Cafe\xcc\x81.md",
        b"caf\xe9.md",
        "報告 2026%.md".encode(),
        b"a\nb",
        b"-",
    ]
    for name in names:
        (tmp_path / os.fsdecode(name)).write_bytes(b"text of " + name)
    source = connector(tmp_path)

    found = await everything(source)

    assert len({d.source_id for d in found}) == len(names)
    for name, document in zip(sorted(names), found, strict=True):
        content = ok(await source.extract(document))
        assert isinstance(content, ExtractedDocument)
        assert content.blocks[0].text == (b"text of " + name).decode("utf-8", "replace")
    assert [d.name for d in found].count("Café.md") == 2


async def test_five_thousand_files_are_listed_once_in_order_and_a_folder_is_not_read_for_each(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for n in range(5_000):
        folder = tmp_path / f"{n % 50:02}"
        folder.mkdir(exist_ok=True)
        (folder / f"{n:04}.txt").touch()
    reads: list[object] = []
    original = Tree._read

    def counting(self: Tree, *where: Any) -> Any:
        reads.append(where)
        return original(self, *where)

    monkeypatch.setattr(Tree, "_read", counting)

    found = await everything(connector(tmp_path, page_size=500))

    ids = [d.source_id for d in found]
    assert len(ids) == 5_000
    assert ids == sorted(set(ids))
    assert len(reads) < 50 + 3 * 10


async def test_a_folder_that_changes_while_it_is_read_loses_nothing_that_stays(
    tmp_path: Path,
) -> None:
    stay = {f"s{n:03}" for n in range(0, 100, 2)}
    for n in range(100):
        (tmp_path / f"s{n:03}").touch()
    source = connector(tmp_path, page_size=7)
    found: list[str] = []
    cursor, turn = None, 0
    while True:
        page = ok(await source.enumerate(cursor))
        found += [d.source_id for d in page.documents]
        turn += 1
        (tmp_path / f"s{turn * 6 + 1:03}").unlink(missing_ok=True)
        (tmp_path / f"new{turn}").touch()
        if (cursor := page.next_cursor) is None:
            break

    assert stay <= set(found)
    assert len(found) == len(set(found))


async def test_a_cursor_to_a_file_that_is_gone_goes_on_after_its_place(tmp_path: Path) -> None:
    for name in "abcd":
        (tmp_path / name).touch()
    source = connector(tmp_path, page_size=2)
    cursor = ok(await source.enumerate(None)).next_cursor
    (tmp_path / "b").unlink()

    rest = ok(await source.enumerate(cursor))

    assert [d.source_id for d in rest.documents] == ["c", "d"]


async def test_a_root_that_is_gone_is_a_source_that_does_not_answer(tmp_path: Path) -> None:
    source = connector(tmp_path / "nothing")

    assert "cannot be read" in str(err(await source.enumerate(None), UpstreamError).message)


async def test_a_name_may_not_lead_out_of_the_folder(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("not yours")
    root = tmp_path / "root"
    root.mkdir()
    (root / "a").touch()
    source = connector(root)
    (listed,) = await everything(source)

    for forged in ("../secret", "%2e%2e/secret", "/etc/passwd", "a/../../secret", "", "."):
        document = SourceDocument(forged, "x", EVERYONE, "1", listed.updated_at)
        err(await source.extract(document), NotFoundError)


async def test_a_file_that_cannot_be_opened_is_skipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a").touch()
    source = connector(tmp_path)
    (document,) = await everything(source)

    def refuse(*_: object, **__: object) -> int:
        raise PermissionError

    monkeypatch.setattr(source._tree, "open_file", refuse)

    found = ok(await source.extract(document))

    assert isinstance(found, Skipped)
    assert found.reason is Reason.UNREADABLE


@pytest.mark.skipif(os.getuid() != 0, reason="needs root, to become somebody else for a moment")
async def test_closed_files_and_folders_are_listed_as_unreadable(tmp_path: Path) -> None:
    for parent in tmp_path.parents[:3]:
        parent.chmod(0o755)
    tmp_path.chmod(0o755)
    (tmp_path / "closed").mkdir(mode=0o700)
    (tmp_path / "closed" / "inside").touch()
    (tmp_path / "open").touch()
    (tmp_path / "shut").touch(mode=0o600)
    source = connector(tmp_path)
    os.seteuid(65_534)
    try:
        found = await everything(source)
        contents = [ok(await source.extract(document)) for document in found]
    finally:
        os.seteuid(0)

    assert [d.source_id for d in found] == ["closed", "open", "shut"]
    assert [getattr(c, "reason", None) for c in contents] == [
        Reason.UNREADABLE,
        None,
        Reason.UNREADABLE,
    ]
    err(await source.extract(found[0]), NotFoundError)


async def test_a_file_that_is_too_large_is_never_read_whole(tmp_path: Path) -> None:
    with (tmp_path / "huge").open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    source = connector(tmp_path)
    (document,) = await everything(source)

    found = ok(await source.extract(document))

    assert isinstance(found, Skipped)
    assert found.reason is Reason.TOO_LARGE


async def test_a_file_whose_readers_changed_since_is_not_given_out(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    (tmp_path / "plan.md").write_text("secret by now")
    (tmp_path / "plan.md").chmod(0o644)
    source = connector(tmp_path, OWN)
    (document,) = await everything(source)
    (tmp_path / "plan.md").chmod(0o600)

    err(await source.extract(document), NotFoundError)


@pytest.mark.parametrize("seconds", [2**60, -(2**60)])
def test_a_date_beyond_the_calendar_does_not_stop_the_listing(seconds: int) -> None:
    status = os.stat_result((0o100644, *[0] * 6, seconds, seconds, seconds))

    assert _moment(status).year == 1970


async def test_what_cannot_be_mapped_is_listed_with_the_reason(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    (tmp_path / "a").touch()
    (tmp_path / "a").chmod(0o604)

    (document,) = await everything(connector(tmp_path, OWN))

    assert isinstance(document.rule, Unmappable)


def test_the_id_is_stable_and_never_the_beginning_of_another(tmp_path: Path) -> None:
    inside = tmp_path / "a:b"
    inside.mkdir()

    ids = {connector(tmp_path).id, connector(inside).id}

    assert connector(tmp_path).id in ids
    assert len(ids) == 2
    assert not any(":" in each for each in ids)


@pytest.mark.parametrize("root_before", [None, "65024:1"])
async def test_a_listing_of_another_folder_than_the_one_that_was_read_is_doubtful(
    tmp_path: Path, root_before: str | None
) -> None:
    for before, doubted in ((root_before, True), (identity(tmp_path), False)):
        source = FilesystemConnectorAdapter(tmp_path, EVERYONE, PlainText(), root_before=before)
        assert ok(await source.enumerate(None)).is_doubtful is doubted


def test_a_folder_that_is_not_there_has_no_identity(tmp_path: Path) -> None:
    assert identity(tmp_path / "gone") is None
    assert identity(tmp_path) != identity(tmp_path.parent)
