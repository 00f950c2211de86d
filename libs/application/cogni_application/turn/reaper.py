"""Runs whose owner died: each is ended as Failed, with what it had."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from cogni_application.background import forever
from cogni_application.turn.ground import Shown
from cogni_application.turn.outcome_view import OutcomeParts, outcome_payload
from cogni_domain.knowledge.citations import Citation
from cogni_domain.ports.run_log import Ending, NumberedDelta, RunLogPort, RunStatus
from cogni_domain.ports.transcript_store import TranscriptStorePort
from cogni_domain.run_record import Sealing
from cogni_engine import (
    CitationDelta,
    Clock,
    Failed,
    FailedDelta,
    Marker,
    MarkerDelta,
    TokenDelta,
)
from cogni_kernel import (
    ConversationId,
    DocumentId,
    Err,
    HumanText,
    Ok,
    Result,
    RunRef,
    TaskClass,
    UpstreamError,
    Usage,
)

INTERVAL_S = 1.0
PAGE = 1000
INTERRUPTED = HumanText("The answer was interrupted on our side. Please ask again.")

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Reaper:
    """Seals orphans by a conditional insert, so that no run ends twice.

    Source:
        DESIGN D5.
    """

    run_log: RunLogPort
    transcripts: TranscriptStorePort
    clock: Clock

    async def watch(self) -> None:
        """Look for orphans again and again, until cancelled."""
        await forever(self.sweep, INTERVAL_S)

    async def sweep(self) -> int:
        """End every orphan there is; return how many. One that could not be ended is tried at the next sweep."""
        orphans = await self.run_log.orphans(self.clock.now())
        if isinstance(orphans, Err):
            return 0
        return sum([await self._is_ended(run) for run in orphans.value])

    async def _is_ended(self, run: RunRef) -> bool:
        try:
            ended = await self._end(run)
        except Exception:
            _log.exception("run %s could not be ended", run)
            return False
        return isinstance(ended, Ok) and ended.value

    async def _end(self, run: RunRef) -> Result[bool]:
        status = await self.run_log.status(run)
        if isinstance(status, Err):
            return status
        issued = await self.transcripts.citations(run)
        if isinstance(issued, Err):
            return issued
        said = await self._said(run)
        if isinstance(said, Err):
            return said
        earlier = await self._earlier_lineage(status.value)
        if isinstance(earlier, Err):
            return earlier
        lineage = earlier.value.union(c.document_id for c in issued.value)
        sealing = self._sealing(status.value, said.value, issued.value, lineage)
        ending = Ending(sealing, [FailedDelta(sealing.outcome)])
        return await self.run_log.seal(run, None, ending, said.value.cursor)

    def _sealing(
        self,
        status: RunStatus,
        said: "_Said",
        issued: Sequence[Citation],
        lineage: frozenset[DocumentId],
    ) -> Sealing:
        shown = said.shown(issued)
        failed = Failed(UpstreamError(INTERRUPTED), shown.text)
        usage = Usage.absent(TaskClass.CONVERSATIONAL)
        conversation = ConversationId(status.conversation_id)
        parts = OutcomeParts(status.run_ref, conversation, shown, said.widgets, usage)
        return Sealing(
            kind=failed.kind.value,
            outcome=outcome_payload(failed, parts),
            answer=shown.text,
            usage=usage,
            lineage=lineage,
            sealed_at=self.clock.now(),
        )

    async def _said(self, run: RunRef) -> "Result[_Said]":
        said = _Said()
        while True:
            found = await self.run_log.deltas(run, said.cursor, PAGE)
            if isinstance(found, Err):
                return found
            if not found.value:
                return Ok(said)
            for numbered in found.value:
                said.read(numbered)

    async def _earlier_lineage(self, status: RunStatus) -> Result[frozenset[DocumentId]]:
        """Return what the run may have taken from the turns before it: all that those came from."""
        found = await self.transcripts.conversation(
            status.tenant_id, status.principal, ConversationId(status.conversation_id)
        )
        if isinstance(found, Err):
            return found
        return Ok(frozenset().union(*(turn.lineage for turn in found.value[1])))


@dataclass
class _Said:
    """What the log of a run says was shown, up to a cursor."""

    cursor: int = 0
    texts: list[str] = field(default_factory=list)
    handles: list[str] = field(default_factory=list)
    widgets: dict[Marker, Mapping[str, object]] = field(default_factory=dict)

    def read(self, numbered: NumberedDelta) -> None:
        """Take one more delta."""
        self.cursor = numbered.cursor
        match numbered.delta:
            case TokenDelta(text=text):
                self.texts.append(text)
            case CitationDelta(handle=handle):
                self.handles.append(handle)
            case MarkerDelta(marker=written, payload=payload):
                self.widgets.update(dict.fromkeys(Marker.scan(written), payload))

    def shown(self, issued: Sequence[Citation]) -> Shown:
        """Return the text with the sources and widgets in it; all of it was verified when it was shown."""
        text, by_handle = "".join(self.texts), {c.handle.token: c for c in issued}
        cited = (by_handle[handle] for handle in self.handles if handle in by_handle)
        return Shown(text, tuple(cited), Marker.scan(text))
