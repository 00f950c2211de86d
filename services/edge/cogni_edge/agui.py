"""AG-UI 1 over HTTP: the same runs and the same decisions, spoken as its events."""

import asyncio
import logging
import secrets
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from starlette.requests import Request
from starlette.responses import Response

from cogni_application.proposals.proposals import ProposalService
from cogni_application.turn.outcome_view import proposal_payload
from cogni_domain.access.principal import Principal
from cogni_domain.proposals import NO_SUCH, Proposal, ProposalState
from cogni_edge.agui_requests import Decision, RunInput, run_input_of
from cogni_edge.answering import Answering
from cogni_edge.asking import Asked, Asking
from cogni_edge.requests import language_in, view_of, wrong_cursor
from cogni_edge.streaming import EventStream
from cogni_engine import Delta, is_terminal
from cogni_kernel import ConflictError, Err, InvalidArgumentError, NotFoundError, Ok, Result
from cogni_surfaces import AguiEvent, AguiRun, View, json_line

EXECUTION_WAIT = timedelta(seconds=5)

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class AguiRoutes:
    """Answers AG-UI clients: a question opens a run, a resumed interrupt decides on a proposal.

    Source:
        DESIGN D5, D8, D22, D25.
    """

    answering: Answering
    asking: Asking
    proposals: ProposalService

    async def post_run(self, request: Request) -> Response:
        """Answer one `RunAgentInput` with the events of one run."""

        async def answered(principal: Principal) -> Result[AsyncIterator[bytes]]:
            read = await run_input_of(request)
            if isinstance(read, Err):
                return read
            wanted = read.value.wanted
            if isinstance(wanted, Decision):
                return await self._decide(request, read.value, wanted, principal)
            asked = await self.asking.ask(wanted, principal)
            if isinstance(asked, Err):
                return asked
            so_far = await self._has_come_so_far(read.value, asked.value, principal)
            if isinstance(so_far, Err):
                return so_far
            view = view_of(request, asked.value.surface)
            return Ok(_events(read.value, asked.value, view))

        return await self.answering.answer(request, answered, EventStream)

    async def _has_come_so_far(self, given: RunInput, asked: Asked, by: Principal) -> Result[None]:
        """Tell whether the run has come as far as the reader says."""
        if given.after is None:
            return Ok(None)
        run, cursor = asked.opened.run_ref, given.after[0]
        found = await self.asking.transcripts.follow(run, by, cursor)
        if isinstance(found, Err) and isinstance(found.error, InvalidArgumentError):
            return wrong_cursor(str(found.error.message))
        return found.map(lambda _: None)

    async def _decide(
        self, request: Request, given: RunInput, decision: Decision, by: Principal
    ) -> Result[AsyncIterator[bytes]]:
        """Decide on what was proposed in this very thread."""
        shown = await self.proposals.shown(decision.proposal, by)
        if isinstance(shown, Err):
            return shown
        run = await self.asking.transcripts.owned(shown.value.run_ref, by)
        if isinstance(run, Err):
            return run
        if run.value.conversation_id != given.thread_id:
            return Err(NotFoundError(NO_SUCH))
        decided = await self._decided(decision, by)
        if isinstance(decided, Err):
            return decided
        proposal = decided.value
        view = View(language_in(request))
        told = AguiRun(given.thread_id, given.run_id, str(proposal.id), view, given.ignored)
        return Ok(_whole(told.decided(proposal_payload(proposal))))

    async def _decided(self, decision: Decision, by: Principal) -> Result[Proposal]:
        """Return the proposal after the decision; who gives up one that is decided, or expired, hears how it stands."""
        again = decision.key is not None
        if decision.accepts:
            decided = await self.proposals.accept(decision.proposal, by, again=again)
        else:
            decided = await self.proposals.decline(decision.proposal, by, again=again)
        if isinstance(decided, Ok):
            return await self.proposals.settled(decided.value, EXECUTION_WAIT)
        if decision.gives_up and isinstance(decided.error, ConflictError):
            shown = await self.proposals.shown(decision.proposal, by)
            return shown.map(_as_it_stands)
        return decided


def _as_it_stands(late: Proposal) -> Proposal:
    """Return a proposal that can be decided no more; one that nobody has swept yet has expired."""
    if late.state is ProposalState.PENDING:
        return replace(late, state=ProposalState.EXPIRED)
    return late


async def _events(given: RunInput, asked: Asked, view: View) -> AsyncIterator[bytes]:
    """Yield the events of a run after those that the reader has; `id` is the delta's cursor and a place."""
    run = asked.opened.run_ref
    told = AguiRun(given.thread_id, given.run_id, str(run), view, given.ignored)
    after = given.after or (0, 0)
    try:
        async for numbered in asked.deltas:
            events = await _encoded(told, numbered.delta)
            for place, event in enumerate(events, 1):
                if (numbered.cursor, place) > after:
                    yield _sent(event, f"{numbered.cursor}.{place}")
        reference = ""
    except Exception:
        reference = secrets.token_hex(6)
        _log.exception("stream of run %s failed, reference %s", run, reference)
    for event in told.broken(reference):
        yield _sent(event)


async def _encoded(told: AguiRun, delta: Delta) -> list[AguiEvent]:
    """Encode a delta; an outcome in a thread, since rendering a hostile one takes a second."""
    if is_terminal(delta):
        return await asyncio.to_thread(told.encode, delta)
    return told.encode(delta)


async def _whole(events: Sequence[AguiEvent]) -> AsyncIterator[bytes]:
    for event in events:
        yield _sent(event)


def _sent(event: AguiEvent, place: str | None = None) -> bytes:
    named = f"id: {place}\n" if place else ""
    return f"{named}data: {json_line(event)}\n\n".encode()
