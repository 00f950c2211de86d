"""Starting, stopping and owning runs."""

import asyncio
import hashlib
import json
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from cogni_application.background import forever
from cogni_application.turn.run_turn import Turn, TurnCollaborators, TurnStart
from cogni_application.turn.seal import RunSealer, bug_in
from cogni_domain.access.principal import Principal
from cogni_domain.access.scope import NO_ACCESS, Scope, ScopePolicy
from cogni_domain.access.tool_offer import OfferContext, ToolRegistryComposer
from cogni_domain.conversations import PastTurn
from cogni_domain.events import ConversationStarted
from cogni_domain.governance.profiles import AssistantProfile
from cogni_domain.knowledge.hidden_text import neutralise_hidden_text
from cogni_domain.ports.profile_store import ProfileStorePort
from cogni_domain.ports.run_log import Opened, RunLogPort
from cogni_domain.run_record import RunOpening
from cogni_engine import (
    Effect,
    Failed,
    Halted,
    HaltReason,
    Registry,
    RunDelta,
    RunOutcome,
)
from cogni_kernel import (
    ConversationId,
    CorpusId,
    DocumentId,
    Err,
    HumanText,
    InvalidArgumentError,
    NotPermittedError,
    Ok,
    Result,
    RunRef,
    encodable,
)

MAX_MESSAGE = 32_000
LEASE = timedelta(seconds=8)
"""With the reaper's second, what a process that was killed left open is ended within ten."""

STOP_POLL_S = 0.1

BLANK = HumanText("Please write a question.")
TOO_LONG = HumanText(
    f"Your message is too long: at most {MAX_MESSAGE} characters. Shorten it, please."
)

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class TurnRequest:
    """What a person asks.

    Attributes:
        surface_id: Where it was asked.
        effects: What that surface supports; without a confirmation step, READ alone.
        subject_ref: Kind and id of the record that the person looks at.
        idempotency_key: The same key by the same person is the same run, again.
        deadline: When the answer is of no use any more, UTC.
    """

    message: str
    conversation_id: ConversationId | None = None
    surface_id: str = "chat"
    effects: frozenset[Effect] = frozenset(Effect)
    subject_ref: tuple[str, str] | None = None
    idempotency_key: str | None = None
    deadline: datetime | None = None

    @property
    def digest(self) -> str:
        """A name for the request, to tell a repeated key with another body."""
        conversation = self.conversation_id.value if self.conversation_id else None
        parts = (self.message, conversation, self.surface_id, self.subject_ref)
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class _Running:
    """A run of this process: `taking` finds its answer, `driving` sees it sealed."""

    turn: Turn
    taking: "asyncio.Task[RunOutcome]"
    driving: "asyncio.Task[None]"


class TurnService:
    """Opens runs, owns them while they go on, and seals them.

    Source:
        COGNI.BUILD spec, package services, "TurnService"; DESIGN D5.
    """

    def __init__(  # noqa: PLR0913 - its collaborators, each visible
        self,
        *,
        scopes: ScopePolicy,
        composer: ToolRegistryComposer,
        profiles: ProfileStorePort,
        run_log: RunLogPort,
        sealer: RunSealer,
        shared: TurnCollaborators,
        new_id: Callable[[], str],
        owner: str,
    ) -> None:
        self._scopes = scopes
        self._composer = composer
        self._profiles = profiles
        self._run_log = run_log
        self._sealer = sealer
        self._shared = shared
        self._new_id = new_id
        self._owner = owner
        self._running: dict[RunRef, _Running] = {}
        self._beginning: set[asyncio.Task[Result[Opened]]] = set()
        self._renewed: datetime | None = None

    async def start(self, request: TurnRequest, principal: Principal) -> Result[Opened]:
        """Open a run and let it go on by itself; a known idempotency key gives its run, again.

        Errors:
            InvalidArgumentError: The message is blank or too long; `detail["field"]` names it.
            NotPermittedError: The principal has no scope.
            NotFoundError: The conversation is not this principal's, or there is no assistant.
            ConflictError: The idempotency key was used for another request.
        """
        wrong = _wrong_message(request.message)
        if wrong is not None:
            return Err(wrong)
        question = neutralise_hidden_text(encodable(request.message))
        profile = await self._profile(request, principal)
        if isinstance(profile, Err):
            return profile
        attached = await self._attached(request, principal)
        if isinstance(attached, Err):
            return attached
        corpora = (*profile.value.elected.content.corpora, *attached.value)
        if request.conversation_id is not None:
            principal = principal.within(request.conversation_id)
        scope = await self._scopes.resolve(principal, corpora)
        if isinstance(scope, Err):
            return scope
        history = await self._goes_on(request, scope.value)
        if isinstance(history, Err):
            return history
        tools = self._composer.compose(principal, _offer(request, principal))
        opening = self._opening(request, question, profile.value, scope.value, tools)
        start = TurnStart(
            run_ref=opening.run_ref,
            conversation_id=opening.conversation_id,
            principal=principal,
            scope=scope.value,
            profile=profile.value,
            tools=tools,
            bounds=replace(profile.value.elected.content.bounds, deadline=request.deadline),
            question=HumanText(question),
            subject_ref=request.subject_ref,
            attached=attached.value,
            history=history.value,
        )
        beginning = asyncio.create_task(self._begin(opening, start))
        self._beginning.add(beginning)
        beginning.add_done_callback(self._beginning.discard)
        return await asyncio.shield(beginning)

    async def _begin(self, opening: RunOpening, start: TurnStart) -> Result[Opened]:
        """Open and launch; who asked may go away in between, and the run is driven all the same."""
        opened = await self._open(opening)
        if isinstance(opened, Ok) and not opened.value.existed:
            self._launch(start, opened.value.epoch)
        return opened

    async def _profile(
        self, request: TurnRequest, principal: Principal
    ) -> Result[AssistantProfile]:
        if principal.tenant_id is None:
            return Err(NotPermittedError(NO_ACCESS))
        return await self._profiles.elected(principal.tenant_id, request.surface_id)

    async def _attached(
        self, request: TurnRequest, principal: Principal
    ) -> Result[tuple[CorpusId, ...]]:
        """Return the corpus of the conversation's files, where it has any."""
        if self._shared.attachments is None:
            return Ok(())
        return await self._shared.attachments.corpora(request.conversation_id, principal)

    async def _goes_on(self, request: TurnRequest, scope: Scope) -> Result[Sequence[PastTurn]]:
        """Return the turns of the conversation that is named, which is the principal's: absent is as another's."""
        if request.conversation_id is None:
            return Ok(())
        owner = scope.principal.owner
        found = await self._shared.transcripts.conversation(
            scope.tenant_id, owner, request.conversation_id
        )
        return found if isinstance(found, Err) else Ok(found.value[1])

    def _opening(
        self,
        request: TurnRequest,
        question: str,
        profile: AssistantProfile,
        scope: Scope,
        tools: Registry,
    ) -> RunOpening:
        return RunOpening(
            run_ref=RunRef(self._new_id()),
            tenant_id=scope.tenant_id,
            principal=scope.principal.owner,
            conversation_id=request.conversation_id or ConversationId(self._new_id()),
            surface_id=request.surface_id,
            question=question,
            opened_at=self._shared.clock.now(),
            scope_digest=scope.digest,
            profile_version=profile.elected.ref,
            model_version=self._shared.model.model_version,
            offered=tools.snapshot,
            idempotency_key=request.idempotency_key,
            request_digest=request.digest,
        )

    async def _open(self, opening: RunOpening) -> Result[Opened]:
        started = ConversationStarted(
            opening.tenant_id,
            str(opening.conversation_id),
            opening.surface_id,
            opening.principal,
        )
        return await self._run_log.open(
            opening, self._owner, self._shared.clock.now() + LEASE, [started]
        )

    def _launch(self, start: TurnStart, epoch: int) -> None:
        streams = self._shared.streams
        streams.begin(start.run_ref, epoch)
        streams.publish(start.run_ref, RunDelta(str(start.run_ref), str(start.conversation_id)))
        turn = Turn(start, self._shared)
        taking = asyncio.create_task(turn.take(), name=f"run {start.run_ref}")
        driving = asyncio.create_task(self._drive(turn, taking, epoch))
        self._running[start.run_ref] = _Running(turn, taking, driving)
        driving.add_done_callback(lambda _: self._running.pop(start.run_ref, None))

    async def _drive(self, turn: Turn, taking: "asyncio.Task[RunOutcome]", epoch: int) -> None:
        """See a run to its end; asking to stop it stops its taking, never its sealing."""
        run = turn.start.run_ref
        outcome: RunOutcome
        try:
            outcome = _referenced(run, await taking)
        except asyncio.CancelledError:
            turn.voice.finish()
            outcome = Halted(HaltReason.STOPPED, turn.voice.shown.text)
        except Exception as bug:
            _log.exception("run %s failed", run)
            turn.voice.finish()
            outcome = Failed(bug_in(run, bug=repr(bug)), turn.voice.shown.text)
        await self._sealer.seal(turn, outcome, epoch)

    def lineage(self, run: RunRef) -> frozenset[DocumentId] | None:
        """Return what a run of this process has been given so far, None for any other."""
        running = self._running.get(run)
        return None if running is None else running.turn.lineage

    def cancel(self, run: RunRef) -> None:
        """End a run of this process as Halted with what it had; any other is left alone."""
        if (running := self._running.get(run)) is not None:
            running.taking.cancel()

    async def keep_leases(self) -> None:
        """Hold this process's runs, and end those that somebody asked to stop, until cancelled."""
        await forever(self._keep_leases, STOP_POLL_S)

    async def _keep_leases(self) -> None:
        if not self._running:
            return
        now = self._shared.clock.now()
        if self._renewed is None or now - self._renewed >= LEASE / 4:
            renewed = await self._run_log.renew(self._owner, tuple(self._running), now + LEASE)
            self._renewed = self._renewed if isinstance(renewed, Err) else now
        stops = await self._run_log.stops_requested(self._owner)
        for run in () if isinstance(stops, Err) else stops.value:
            self.cancel(run)

    async def drain(self) -> None:
        """End every run of this process, sealed."""
        for running in self._running.values():
            running.taking.cancel()
        await asyncio.gather(*(r.driving for r in self._running.values()), return_exceptions=True)


def _referenced(run: RunRef, outcome: RunOutcome) -> RunOutcome:
    """Log a bug that ended a run where foreign code was called; it is told as any other, by the run's number."""
    if not isinstance(outcome, Failed) or "trace" not in outcome.error.detail:
        return outcome
    trace = str(outcome.error.detail["trace"])
    _log.error("run %s failed\n%s", run, trace)
    return replace(outcome, error=bug_in(run, trace=trace))


def _wrong_message(message: str) -> InvalidArgumentError | None:
    if len(message) > MAX_MESSAGE:
        return InvalidArgumentError(TOO_LONG, detail={"field": "message"})
    if HumanText(message).is_blank():
        return InvalidArgumentError(BLANK, detail={"field": "message"})
    return None


def _offer(request: TurnRequest, principal: Principal) -> OfferContext:
    """Nobody is there to confirm what a machine asks for."""
    if principal.is_machine():
        return OfferContext(effects=request.effects & {Effect.READ})
    return OfferContext(effects=request.effects)
