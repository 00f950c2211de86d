"""A folder as a source: its files, who may read them, and what changes."""

import asyncio
import os
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from threading import Event

from cogni_adapters.filesystem.follow import Follower
from cogni_adapters.filesystem.names import shown, to_path, to_source_id
from cogni_adapters.filesystem.permissions import OneRule, PosixMapping
from cogni_adapters.filesystem.tree import GONE, Entry, Kind, Tree
from cogni_domain.access.rule import AccessRule
from cogni_domain.knowledge.extracted import (
    ExtractedDocument,
    ExtractionLimits,
    Reason,
    Skipped,
)
from cogni_domain.knowledge.source import ChangeEvent, SourceDocument, SourcePage
from cogni_domain.ports.connector import ConnectorPort
from cogni_domain.ports.extractor import ExtractorPort
from cogni_kernel import Err, HumanText, NotFoundError, Ok, Result, UpstreamError

PAGE_SIZE = 500
MAX_BYTES = ExtractionLimits().file_bytes
CLOSED = "closed"
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

UNREADABLE = Skipped(
    Reason.UNREADABLE, "It cannot be opened. Let this service's account read it, or move it away."
)
TOO_LARGE = Skipped(
    Reason.TOO_LARGE, f"It is larger than {MAX_BYTES // 2**20} MiB. Split it, or move it away."
)
GONE_SINCE = Err(NotFoundError(HumanText("The file is gone, or has other readers by now.")))


class FilesystemConnectorAdapter(ConnectorPort):
    """Files under one folder. An id is the raw path below it, so two spellings of a name are two files.

    Hidden files and folders are not part of it, and symbolic links are not followed. A file that moves gets
    another id, and the rule of where it is.

    Args:
        root: The folder; the connector's id says its path.
        readers: One rule for all files, or the mapping of their modes.
        extractor: Reads what is in a file.
        page_size: Documents a page.
        root_before: The `identity` of the root when it was last read to its end. Where that is another one,
            like that of the folder on which a disk is mounted, a listing without files is doubtful.

    Source:
        COGNI.BUILD spec, package adapters, "FilesystemConnectorAdapter".
    """

    def __init__(
        self,
        root: Path,
        readers: AccessRule | PosixMapping,
        extractor: ExtractorPort,
        *,
        page_size: int = PAGE_SIZE,
        root_before: str | None = None,
    ) -> None:
        permissions = OneRule(readers) if isinstance(readers, AccessRule) else readers
        self._tree = Tree(root.resolve(), permissions)
        self._extractor = extractor
        self._page_size = page_size
        self._root_before = root_before

    @property
    def id(self) -> str:
        return f"folder{to_source_id((os.fsencode(self._tree.root),))}"

    async def enumerate(self, cursor: str | None) -> Result[SourcePage]:
        return await asyncio.to_thread(self._page, cursor)

    async def extract(self, document: SourceDocument) -> Result[ExtractedDocument | Skipped]:
        read = await asyncio.to_thread(self._content, document)
        if isinstance(read, Err):
            return read
        if isinstance(read.value, Skipped):
            return Ok(read.value)
        return Ok(await self._extractor.extract(document.name, read.value))

    async def changes(self) -> AsyncIterator[ChangeEvent]:
        stop, loop = Event(), asyncio.get_running_loop()
        thread = ThreadPoolExecutor(1, "follow-folder")
        try:
            batches = Follower(self._tree, _described, stop).changes()
            while (batch := await loop.run_in_executor(thread, next, batches, None)) is not None:
                for event in batch:
                    yield event
        except OSError:
            return
        finally:
            stop.set()
            thread.shutdown(wait=False)

    def _page(self, cursor: str | None) -> Result[SourcePage]:
        entries = self._tree.walk(after=to_path(cursor or ""))
        try:
            found = (_described(entry) for entry in entries if entry.kind is not Kind.FOLDER)
            documents = list(islice(found, self._page_size + 1))
        except OSError as error:
            message = f"The folder {self._tree.root} cannot be read. Check that it is there and open to us."
            return Err(UpstreamError(HumanText(message), detail={"cause": str(error)}))
        page = documents[: self._page_size]
        rest = page[-1].source_id if len(documents) > len(page) else None
        return Ok(SourcePage(page, rest, identity(self._tree.root) != self._root_before))

    def _content(self, document: SourceDocument) -> Result[bytes | Skipped]:
        """Return what is in a file, if it still has the readers that it was listed with."""
        path = to_path(document.source_id)
        if document.revision == CLOSED:
            still = next(self._tree.walk(path), None)
            return Ok(UNREADABLE) if still and still.kind is Kind.CLOSED else GONE_SINCE
        try:
            with os.fdopen(self._tree.open_file(path), "rb") as file:
                data = file.read(MAX_BYTES + 1)
        except GONE:
            return GONE_SINCE
        except OSError:
            return Ok(UNREADABLE)
        now = self._tree.find(path)
        if now is None or now.rule != document.rule:
            return GONE_SINCE
        return Ok(TOO_LARGE if len(data) > MAX_BYTES else data)


def identity(root: Path) -> str | None:
    """Return what tells a folder from another one at the same path; None where there is none."""
    try:
        status = root.stat()
    except OSError:
        return None
    return f"{status.st_dev}:{status.st_ino}"


def _described(entry: Entry) -> SourceDocument:
    return SourceDocument(
        source_id=to_source_id(entry.path),
        name=shown(entry.path[-1]),
        rule=entry.rule,
        revision=_revision(entry.status),
        updated_at=_moment(entry.status),
    )


def _revision(status: os.stat_result | None) -> str:
    return CLOSED if status is None else f"{status.st_mtime_ns}-{status.st_size}"


def _moment(status: os.stat_result | None) -> datetime:
    """Return when it was changed; the start of 1970 where that is unknown, or no date at all."""
    try:
        return EPOCH if status is None else datetime.fromtimestamp(status.st_mtime, UTC)
    except (OverflowError, ValueError, OSError):
        return EPOCH
