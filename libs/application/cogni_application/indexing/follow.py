"""Following a source: what touches access at once and many at a time, then what has to be read."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace

from cogni_application.indexing.ingest import AS_BEFORE, BUG, IndexingService
from cogni_application.indexing.intake import qualified
from cogni_domain.knowledge.corpus import Corpus
from cogni_domain.knowledge.extracted import ExtractedDocument, Reason, Skipped
from cogni_domain.knowledge.source import ChangeEvent, ChangeKind, SourceDocument, SourcePage
from cogni_domain.ports.connector import ConnectorPort
from cogni_kernel import ConflictError, Err, Error, HumanText, Result, UpstreamError

PAUSE_S = 1.0
ATTEMPTS = 5

OVERTAKEN = HumanText("The document changed again while it was being read.")

_log = logging.getLogger(__name__)


class SourceFollower:
    """Applies what a connector tells, for as long as it tells anything.

    Deletions, moves and new rules never wait for a file that is being read: what was read of a document that
    changed meanwhile is thrown away, or followed by the newer change.

    Source:
        COGNI.BUILD spec, package services, "IndexingService".
    """

    def __init__(self, indexing: IndexingService, corpus: Corpus, connector: ConnectorPort) -> None:
        self._indexing = indexing
        self._corpus = corpus
        self._connector = connector
        self._urgent: list[ChangeEvent] = []
        self._edits: dict[str, ChangeEvent] = {}
        self._attempts: dict[str, int] = {}
        self._in_hand: str | None = None
        self._overtaking: ChangeEvent | None = None
        self._heard = asyncio.Condition()
        self._told_all = False

    async def follow(self) -> None:
        """Return when the source tells no more, and all that it told is applied."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._listen())
            group.create_task(self._apply_urgent())
            group.create_task(self._apply_edits())

    async def _listen(self) -> None:
        async for event in self._connector.changes():
            async with self._heard:
                self._sort(event)
                self._heard.notify_all()
        async with self._heard:
            self._told_all = True
            self._heard.notify_all()

    def _sort(self, event: ChangeEvent) -> None:
        """Put an event where it is worked off; it counts more than an edit of the document that waits."""
        if event.kind is ChangeKind.EDITED:
            self._edits[event.source_id] = event
            self._attempts.pop(event.source_id, None)
            return
        self._urgent.append(event)
        if event.source_id == self._in_hand:
            self._overtaking = event
        waiting = self._edits.pop(event.source_id, None)
        if waiting is not None and event.document is not None:
            place = event.document.source_id
            self._edits[place] = replace(waiting, source_id=place, document=event.document)

    async def _apply_urgent(self) -> None:
        while await self._is_there(lambda: bool(self._urgent)):
            batch, self._urgent = self._urgent, []
            done = await self._safely(
                self._indexing.on_changes(self._corpus, self._connector, batch)
            )
            if isinstance(done, Err):
                _log.warning("changes of %s wait: %s", self._connector.id, done.error.message)
                await asyncio.sleep(PAUSE_S)
                if done.error.retryable:
                    self._urgent = [*batch, *self._urgent]

    async def _apply_edits(self) -> None:
        while await self._is_there(lambda: bool(self._edits)):
            source_id = next(iter(self._edits))
            event = self._edits.pop(source_id)
            self._in_hand, self._overtaking = source_id, None
            reader = _UnlessOvertaken(self._connector, self)
            done = await self._safely(self._indexing.on_change(self._corpus, reader, event))
            self._in_hand = None
            if self.is_overtaken:
                await self._repeat_what_overtook()
            elif isinstance(done, Err):
                await self._again(event, done.error)

    async def _repeat_what_overtook(self) -> None:
        """Apply the newer change once more, in case that what was read was written after it."""
        async with self._heard:
            self._urgent += [self._overtaking] if self._overtaking else []
            self._heard.notify_all()

    async def _safely(self, work: Awaitable[Result[None]]) -> Result[None]:
        """Return what came of it, an error for a bug too: one document ends no following."""
        try:
            return await work
        except Exception as bug:
            _log.exception("a change of %s could not be followed", self._connector.id)
            return Err(UpstreamError(BUG, retryable=False, detail={"bug": repr(bug)}))

    async def _again(self, event: ChangeEvent, error: Error) -> None:
        """Try once more later, or list what cannot be read."""
        attempt = self._attempts.get(event.source_id, 0) + 1
        if error.retryable and attempt < ATTEMPTS:
            await asyncio.sleep(PAUSE_S)
            self._edits.setdefault(event.source_id, event)
            self._attempts[event.source_id] = attempt
            return
        self._attempts.pop(event.source_id, None)
        name = event.document.name if event.document else ""
        why = Skipped(Reason.UNREADABLE, f"{error.message} {AS_BEFORE}")
        place = qualified(self._connector, event.source_id)
        await self._indexing.intake.note(self._corpus, place, name, why)

    async def _is_there(self, work: Callable[[], bool]) -> bool:
        """Wait for work; False where none will come any more."""
        async with self._heard:
            await self._heard.wait_for(lambda: work() or self._told_all)
        return work()

    @property
    def is_overtaken(self) -> bool:
        """Whether the document that is being read changed its readers, its place or its being meanwhile."""
        return self._overtaking is not None


class _UnlessOvertaken(ConnectorPort):
    """A connector whose content does not count where a newer change came while it was read."""

    def __init__(self, connector: ConnectorPort, follower: SourceFollower) -> None:
        self._connector = connector
        self._follower = follower

    @property
    def id(self) -> str:
        return self._connector.id

    async def enumerate(self, cursor: str | None) -> Result[SourcePage]:
        return await self._connector.enumerate(cursor)

    async def extract(self, document: SourceDocument) -> Result[ExtractedDocument | Skipped]:
        content = await self._connector.extract(document)
        return Err(ConflictError(OVERTAKEN)) if self._follower.is_overtaken else content

    def changes(self) -> AsyncIterator[ChangeEvent]:
        return self._connector.changes()
