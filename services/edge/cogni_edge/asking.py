"""One way to ask, whatever the answer is encoded as."""

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, replace

from cogni_application.turn.take_turn import TurnRequest, TurnService
from cogni_application.turn.transcripts import TranscriptService
from cogni_domain.access.principal import Principal
from cogni_domain.ports.run_log import NumberedDelta, Opened
from cogni_kernel import Err, Ok, Result
from cogni_surfaces import OpenSurface, SurfaceRegistry, limited


@dataclass(frozen=True, slots=True)
class Asked:
    """A run that goes on, its deltas from the first as far as they are shown, and the surface that shows them."""

    opened: Opened
    deltas: AsyncIterator[NumberedDelta]
    surface: OpenSurface


@dataclass(frozen=True, slots=True)
class Asking:
    """Opens runs.

    Attributes:
        admits: Ok, or why no run can be opened now: a provider is down.
    """

    registry: SurfaceRegistry
    turns: TurnService
    transcripts: TranscriptService
    admits: Callable[[], Result[None]]

    async def ask(self, request: TurnRequest, principal: Principal) -> Result[Asked]:
        """Start a run, or find the one of this key; what may be changed is up to the surface.

        Errors:
            NotFoundError: There is no such surface in this tenant.
            UpstreamError: A provider is down.
            Error: As of `TurnService.start` and `TranscriptService.follow`.
        """
        surface = await self.registry.open(principal.tenant_id, request.surface_id)
        if isinstance(surface, Err):
            return surface
        admitted = self.admits()
        if isinstance(admitted, Err):
            return admitted
        offered = replace(request, effects=surface.value.surface.effects)
        opened = await self.turns.start(offered, principal)
        if isinstance(opened, Err):
            return opened
        deltas = await self.transcripts.follow(opened.value.run_ref, principal, 0)
        if isinstance(deltas, Err):
            return deltas
        limit = surface.value.surface.capabilities.max_output_length
        return Ok(Asked(opened.value, limited(deltas.value, limit), surface.value))
