"""What a marker of a run stands for, shown again: to its person, as far as its sources may still be read."""

from dataclasses import dataclass

from cogni_application.turn.transcripts import NO_SUCH, TranscriptService
from cogni_domain.access.principal import Principal
from cogni_domain.ports.run_log import RunLogPort, RunStatus
from cogni_engine import (
    ChannelKey,
    Marker,
    MarkerDelta,
    MarkerKind,
    Missing,
    ReferenceStore,
    Renderable,
)
from cogni_kernel import Err, NotFoundError, Ok, Result, RunRef

PAGE = 500


@dataclass(frozen=True, slots=True)
class ShownWidget:
    """A marker with what it stands for, or why that is nothing any more."""

    marker: Marker
    payload: Renderable | Missing


@dataclass(frozen=True, slots=True)
class WidgetService:
    """Opens widgets by the run that issued them; a reference of another run resolves to nothing.

    Source:
        DESIGN D23; COGNI.BUILD spec, package channel, "ReferenceStore".
    """

    transcripts: TranscriptService
    run_log: RunLogPort
    references: ReferenceStore

    async def open(self, run: RunRef, ref: str, principal: Principal) -> Result[ShownWidget]:
        """Return a widget of an own run.

        Errors:
            NotFoundError: No such run of this person, no reference, or a source may not be read any more.
        """
        marker = _marker(ref)
        if marker is None:
            return Err(NotFoundError(NO_SUCH))
        status = await self.transcripts.opened(run, principal)
        if isinstance(status, Err):
            return status
        issued = await self._issued(status.value, marker)
        if isinstance(issued, Err):
            return issued
        if not issued.value:
            return Ok(ShownWidget(marker, Missing.NEVER_ISSUED))
        reader = f"{status.value.tenant_id}/{principal.owner}"
        channel = ChannelKey.derive(status.value.conversation_id, reader)
        return Ok(ShownWidget(marker, await self.references.get(channel, marker)))

    async def _issued(self, run: RunStatus, marker: Marker) -> Result[bool]:
        """Tell whether it was this run that issued the marker: its sources are those that were checked."""
        after = 0
        while True:
            found = await self.run_log.deltas(run.run_ref, after, PAGE)
            if isinstance(found, Err):
                return found
            if any(_is(numbered.delta, marker) for numbered in found.value):
                return Ok(True)
            if len(found.value) < PAGE:
                return Ok(False)
            after = found.value[-1].cursor


def _is(delta: object, marker: Marker) -> bool:
    return isinstance(delta, MarkerDelta) and delta.marker == str(marker)


def _marker(ref: str) -> Marker | None:
    try:
        return Marker(MarkerKind(ref[:1]), ref)
    except ValueError:
        return None
