"""One turn, from its question to its outcome."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from cogni_application.addresses import canonical_forms
from cogni_application.attachments import AttachmentService
from cogni_application.retrieval.passages import RunPassages
from cogni_application.retrieval.retrieve import RetrievalService
from cogni_application.subjects import SubjectService
from cogni_application.turn.assemble import SubjectContent, assemble
from cogni_application.turn.ground import Evidence
from cogni_application.turn.streams import RunStreams
from cogni_application.turn.voice import RunBroadcaster, RunVoice
from cogni_domain.access.principal import Principal
from cogni_domain.access.scope import Scope
from cogni_domain.access.tool_offer import ToolContext
from cogni_domain.conversations import PastTurn
from cogni_domain.governance.profiles import AssistantProfile
from cogni_domain.knowledge.citations import CitationIssuer
from cogni_domain.knowledge.search import CitedPassage, Passages
from cogni_domain.lineage import LineagePolicy
from cogni_domain.ports.model import ModelPort
from cogni_domain.ports.transcript_store import TranscriptStorePort
from cogni_domain.run_record import Step
from cogni_engine import (
    Assistant,
    ChannelKey,
    Clock,
    Completed,
    Delta,
    Emitter,
    EngineStep,
    Failed,
    Halted,
    HaltReason,
    Phase,
    ReferenceStore,
    RefusalReason,
    Refused,
    Registry,
    RetryPolicy,
    RunBounds,
    RunLoop,
    RunOutcome,
    TokenDelta,
    ToolCallStep,
)
from cogni_kernel import (
    ConversationId,
    CorpusId,
    DocumentId,
    Err,
    HumanText,
    InvalidArgumentError,
    NotFoundError,
    Ok,
    Result,
    RunRef,
    Usage,
)

SEARCHING = HumanText("Searching")
COMPOSING = HumanText("Writing the answer")
NOTHING_FOUND = HumanText(
    "I found nothing about this in what you can read here. Try other words, name the page or the request, or ask "
    "somebody who knows where it is written down."
)
FOUND_SO_FAR = HumanText("I had to stop before I had an answer. It may be in what I found so far:")
MOST_NAMED = 5


@dataclass(frozen=True, slots=True)
class TurnCollaborators:
    """What every turn of a process shares, the budget of its retries too."""

    retrieval: RetrievalService
    transcripts: TranscriptStorePort
    references: ReferenceStore
    lineage: LineagePolicy
    model: ModelPort
    streams: RunStreams
    clock: Clock
    resources: Mapping[type, object]
    subjects: SubjectService | None = None
    attachments: AttachmentService | None = None
    retry: RetryPolicy = field(default_factory=RetryPolicy)


@dataclass(frozen=True, slots=True)
class TurnStart:
    """What was settled before the run was opened, from grants alone.

    Attributes:
        history: The turns before this one, as they are kept; whether they may be used is judged by the run.
    """

    run_ref: RunRef
    conversation_id: ConversationId
    principal: Principal
    scope: Scope
    profile: AssistantProfile
    tools: Registry
    bounds: RunBounds
    question: HumanText
    subject_ref: tuple[str, str] | None = None
    attached: tuple[CorpusId, ...] = ()
    history: Sequence[PastTurn] = ()


class Turn:
    """A run under way. What it has shown so far can be asked at any moment, also after it was cancelled.

    Source:
        COGNI.BUILD spec, package services, "TurnService".
    """

    def __init__(self, start: TurnStart, shared: TurnCollaborators) -> None:
        self.start = start
        self._shared = shared
        self._content = start.profile.elected.content
        self._issuer = CitationIssuer(start.run_ref)
        self._sources: frozenset[DocumentId] = frozenset()
        self.passages = RunPassages(
            retrieval=shared.retrieval,
            principal=start.principal,
            corpora=(*self._content.corpora, *start.attached),
            k=self._content.passages,
            issuer=self._issuer,
            transcripts=shared.transcripts,
            on_decision=self._record,
        )
        self.widgets = RunBroadcaster(
            ChannelKey.derive(
                str(start.conversation_id), f"{start.scope.tenant_id}/{start.principal.owner}"
            ),
            shared.references,
            shared.clock.now,
            self._publish,
            self._record,
            lambda: shared.streams.has_readers(start.run_ref),
        )
        self.voice = RunVoice(
            self._publish,
            self._record,
            Evidence(self._issuer.resolve, lambda m: m in self.widgets.issued, self._urls),
            self._holds_evidence,
            self._content.output,
        )
        self.emitter = Emitter(self.voice.hear)
        self.failed_calls: list[ToolCallStep] = []
        self._assistant: Assistant | None = None
        self._holds_subject = False

    @property
    def usage(self) -> Usage:
        """What the model calls cost so far."""
        return self._assistant.usage if self._assistant else Usage.zero()

    @property
    def lineage(self) -> frozenset[DocumentId]:
        """Every document that the answer may come from: passages given to the model, and those of past turns."""
        return self._sources | self.passages.documents()

    async def take(self) -> RunOutcome:
        """Run to an outcome, within the bounds; nothing but a bug or a cancellation raises."""
        seconds = self.start.bounds.remaining(self._shared.clock.now()).total_seconds()
        try:
            async with asyncio.timeout(seconds) as wall_clock:
                return self._grounded(await self._answered())
        except TimeoutError:
            if not wall_clock.expired():
                raise
            return self._grounded(Halted(HaltReason.DEADLINE, ""))

    async def _answered(self) -> RunOutcome:
        found = await self._found()
        if isinstance(found, Err):
            return Failed(found.error)
        subject = await self._subject()
        if isinstance(subject, Err):
            return Failed(subject.error)
        holds_nothing = not found.value and subject.value is None
        if self._content.grounded and holds_nothing and not self.start.tools.entries:
            return Completed("")
        history = await self._history()
        if isinstance(history, Err):
            return Failed(history.error)
        self._assistant = Assistant(
            model=self._shared.model,
            context=self._tool_context(),
            thread=assemble(
                self._content.instructions,
                history.value,
                found.value,
                self.start.question,
                subject.value,
            ),
            tools=self.start.tools,
            channel=self.widgets,
            emitter=self.emitter,
            on_step=self._note,
        )
        self.emitter.emit_phase(Phase.COMPOSING, COMPOSING)
        loop = RunLoop(self._assistant, self.start.bounds, self._shared.clock, self._shared.retry)
        return await loop.execute()

    async def _found(self) -> Result[Sequence[CitedPassage]]:
        """Search once for the question; one without a word in it finds nothing."""
        if not self._content.grounded:
            return Ok(())
        self.emitter.emit_phase(Phase.RETRIEVING, SEARCHING)
        found = await self.passages.search(str(self.start.question))
        if isinstance(found, Err) and isinstance(found.error, InvalidArgumentError):
            return Ok(())
        return found

    async def _subject(self) -> Result[SubjectContent | None]:
        """Look up what the person looks at; what they may not read is not there, and the turn goes on."""
        if self._shared.subjects is None or self.start.subject_ref is None:
            return Ok(None)
        kind, name = self.start.subject_ref
        found = await self._shared.subjects.under(kind, name, self.start.scope)
        if isinstance(found, Err):
            return Ok(None) if isinstance(found.error, NotFoundError) else found
        quoted = await self.passages.quote(found.value.passages)
        if isinstance(quoted, Err):
            return quoted
        self._holds_subject = True
        subject = found.value.subject
        return Ok(SubjectContent(subject.title, subject.text, tuple(quoted.value)))

    async def _history(self) -> Result[Sequence[tuple[PastTurn, bool]]]:
        if not self.start.history:
            return Ok(())
        judged = await self._shared.lineage.split(self.start.history, self.start.scope)
        if isinstance(judged, Ok):
            self._sources = frozenset().union(*(t.lineage for t, ok in judged.value if ok))
        return judged

    def _tool_context(self) -> ToolContext:
        resources = {**self._shared.resources, Passages: self.passages}
        return ToolContext(self.start.principal, self.start.scope, self.start.run_ref, resources)

    def _grounded(self, outcome: RunOutcome) -> RunOutcome:
        """An answer that is prohibited, rests on nothing, or of which nothing could be shown, is a refusal."""
        self.voice.finish()
        if isinstance(outcome, Completed | Halted) and self.voice.blocked is not None:
            outcome = Refused(RefusalReason.PROHIBITED, self.voice.blocked.description)
        if isinstance(outcome, Halted):
            return self._halted(outcome.reason)
        if isinstance(outcome, Completed) and not self.voice.shown.text.strip():
            outcome = Refused(RefusalReason.NOTHING_FOUND, NOTHING_FOUND)
        if isinstance(outcome, Refused):
            self.voice.say(str(outcome.message))
        return outcome

    def _halted(self, reason: HaltReason) -> Halted:
        """A halt is an answer: where nothing was said yet, it names the sources that were found."""
        self.voice.finish()
        if not self.voice.shown.text.strip():
            sources = {p.citation.document_id: p for p in reversed(self.passages.found.values())}
            lines = [f"- {p.citation.label} [{p.handle}]" for p in reversed(sources.values())]
            if lines:
                named = "\n".join(lines[:MOST_NAMED])
                self.voice.hear(TokenDelta(f"{FOUND_SO_FAR}\n\n{named}\n"))
                self.voice.finish()
        return Halted(reason, self.voice.shown.text)

    def _holds_evidence(self) -> bool:
        """Whether what the model says may rest on something; an ungrounded profile does not ask."""
        from_tools = self._assistant is not None and self._assistant.holds_evidence
        given = bool(self.passages.found) or self._holds_subject
        return from_tools or given or not self._content.grounded

    def _urls(self) -> frozenset[str]:
        called = self._assistant.retrieved_urls if self._assistant else ()
        return self.passages.urls.union(*map(canonical_forms, called))

    def _publish(self, delta: Delta) -> None:
        self._shared.streams.publish(self.start.run_ref, delta)

    def _record(self, step: Step) -> None:
        self._shared.streams.record(self.start.run_ref, step)

    def _note(self, step: EngineStep) -> None:
        self._record(step)
        if isinstance(step, ToolCallStep) and step.error is not None:
            self.failed_calls.append(step)
