"""One turn, from its question to its outcome."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cogni_application.retrieval.passages import RunPassages
from cogni_application.retrieval.retrieve import RetrievalService
from cogni_application.turn.assemble import assemble
from cogni_application.turn.ground import Evidence
from cogni_application.turn.streams import RunStreams
from cogni_application.turn.voice import RunBroadcaster, RunVoice
from cogni_domain.access.principal import Principal
from cogni_domain.access.scope import Scope
from cogni_domain.access.tool_offer import ToolContext
from cogni_domain.conversations import PastTurn
from cogni_domain.governance.profiles import AssistantProfile, ProfileContent
from cogni_domain.knowledge.citations import Citation, CitationIssuer
from cogni_domain.knowledge.search import CitedPassage, Passages
from cogni_domain.lineage import LineagePolicy
from cogni_domain.ports.model import ModelPort
from cogni_domain.ports.transcript_store import TranscriptStorePort
from cogni_engine import (
    Assistant,
    ChannelKey,
    Clock,
    Completed,
    Emitter,
    EngineStep,
    Failed,
    Phase,
    ReferenceStore,
    RefusalReason,
    Refused,
    Registry,
    RunBounds,
    RunLoop,
    RunOutcome,
    ToolCallStep,
)
from cogni_kernel import ConversationId, Err, HumanText, Ok, Result, RunRef, Usage

SEARCHING = HumanText("Searching")
COMPOSING = HumanText("Writing the answer")
NOTHING_FOUND = HumanText(
    "I found nothing about this in what you can read here. Try other words, name the page or the request, or ask "
    "somebody who knows where it is written down."
)


@dataclass(frozen=True, slots=True)
class TurnCollaborators:
    """What every turn of a process shares."""

    retrieval: RetrievalService
    transcripts: TranscriptStorePort
    references: ReferenceStore
    lineage: LineagePolicy
    model: ModelPort
    streams: RunStreams
    clock: Clock
    resources: Mapping[type, object]


@dataclass(frozen=True, slots=True)
class TurnStart:
    """What was settled before the run was opened, from grants alone."""

    run_ref: RunRef
    conversation_id: ConversationId
    first_handle: int
    principal: Principal
    scope: Scope
    profile: AssistantProfile
    tools: Registry
    bounds: RunBounds
    question: HumanText


class Turn:
    """A run under way. What it has shown so far can be asked at any moment, also after it was cancelled.

    Source:
        COGNI.BUILD spec, package services, "TurnService".
    """

    def __init__(self, start: TurnStart, shared: TurnCollaborators) -> None:
        self.start = start
        self._shared = shared
        self._issuer = CitationIssuer(start.run_ref, start.first_handle - 1)
        self.passages = RunPassages(
            retrieval=shared.retrieval,
            principal=start.principal,
            corpora=start.profile.elected.content.corpora,
            k=start.profile.elected.content.passages,
            issuer=self._issuer,
            keep=self._keep,
            on_decision=lambda step: shared.streams.record(start.run_ref, step),
        )
        self.widgets = RunBroadcaster(
            ChannelKey.derive(str(start.conversation_id), str(start.principal.id)),
            shared.references,
            shared.clock.now,
            lambda delta: shared.streams.publish(start.run_ref, delta),
            lambda step: shared.streams.record(start.run_ref, step),
        )
        self.voice = RunVoice(
            lambda delta: shared.streams.publish(start.run_ref, delta),
            Evidence(self._issuer.resolve, lambda m: m in self.widgets.issued, self._urls),
            self._holds_evidence,
        )
        self.emitter = Emitter(self.voice.hear)
        self.failed_calls: list[ToolCallStep] = []
        self._assistant: Assistant | None = None

    @property
    def usage(self) -> Usage:
        """What the model calls cost so far."""
        return self._assistant.usage if self._assistant else Usage.zero()

    async def take(self) -> RunOutcome:
        """Run to an outcome; nothing but a bug or a cancellation raises."""
        content = self.start.profile.elected.content
        found = await self._passages(content)
        if isinstance(found, Err):
            return Failed(found.error)
        if not found.value and not self.start.tools.entries:
            return self._nothing_found()
        history = await self._history()
        if isinstance(history, Err):
            return Failed(history.error)
        self._assistant = Assistant(
            model=self._shared.model,
            context=self._tool_context(),
            thread=assemble(content.instructions, history.value, found.value, self.start.question),
            tools=self.start.tools,
            channel=self.widgets,
            emitter=self.emitter,
            on_step=self._note,
        )
        self.emitter.emit_phase(Phase.COMPOSING, COMPOSING)
        loop = RunLoop(self._assistant, self.start.bounds, self._shared.clock)
        return self._grounded(await loop.execute())

    async def _passages(self, content: ProfileContent) -> Result[Sequence[CitedPassage]]:
        if not content.grounded:
            return Ok(())
        self.emitter.emit_phase(Phase.RETRIEVING, SEARCHING)
        return await self.passages.search(str(self.start.question))

    async def _history(self) -> Result[Sequence[tuple[PastTurn, bool]]]:
        principal, scope = self.start.principal, self.start.scope
        found = await self._shared.transcripts.conversation(
            scope.tenant_id, principal.id, self.start.conversation_id
        )
        if isinstance(found, Err):
            return found
        _, turns = found.value
        earlier = [t for t in turns if t.run_ref != self.start.run_ref]
        return await self._shared.lineage.split(earlier, scope)

    def _tool_context(self) -> ToolContext:
        resources = {**self._shared.resources, Passages: self.passages}
        return ToolContext(self.start.principal, self.start.scope, self.start.run_ref, resources)

    def _grounded(self, outcome: RunOutcome) -> RunOutcome:
        """An answer that rests on nothing, or of which nothing could be shown, is a refusal."""
        for step in self.voice.finish():
            self._shared.streams.record(self.start.run_ref, step)
        if isinstance(outcome, Completed) and not self.voice.guard.text.strip():
            return self._nothing_found()
        if isinstance(outcome, Refused):
            self.voice.say(str(outcome.message))
        return outcome

    def _nothing_found(self) -> Refused:
        self.voice.say(str(NOTHING_FOUND))
        return Refused(RefusalReason.NOTHING_FOUND, NOTHING_FOUND)

    def _holds_evidence(self) -> bool:
        tools = self._assistant is not None and self._assistant.holds_evidence
        return tools or bool(self.passages.found)

    def _urls(self) -> frozenset[str]:
        called = self._assistant.retrieved_urls if self._assistant else frozenset()
        return self.passages.urls | called

    def _note(self, step: EngineStep) -> None:
        self._shared.streams.record(self.start.run_ref, step)
        if isinstance(step, ToolCallStep) and step.error is not None:
            self.failed_calls.append(step)

    async def _keep(self, citations: Sequence[Citation]) -> Result[None]:
        return await self._shared.transcripts.keep_citations(self.start.run_ref, citations)
