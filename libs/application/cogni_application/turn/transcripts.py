"""What a person may see of runs: their own, as far as they may still read what those came from."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, replace

from cogni_application.turn.replay import nothing_more, withheld
from cogni_application.turn.source_watch import SourceWatch
from cogni_application.turn.streams import RunStreams
from cogni_application.turn.take_turn import TurnService
from cogni_domain.access.principal import Principal
from cogni_domain.access.scope import Scope, ScopePolicy
from cogni_domain.conversations import WITHHELD, Conversation, PastTurn
from cogni_domain.knowledge.citations import Citation
from cogni_domain.knowledge.corpus import Chunk
from cogni_domain.lineage import LineagePolicy
from cogni_domain.ports.document_store import DocumentStorePort
from cogni_domain.ports.run_log import NumberedDelta, RunLogPort, RunStatus
from cogni_domain.ports.transcript_store import TranscriptStorePort
from cogni_engine import DoneDelta, FailedDelta
from cogni_kernel import (
    ConversationId,
    DocumentId,
    Err,
    HumanText,
    InvalidArgumentError,
    NotFoundError,
    NotPermittedError,
    Ok,
    Result,
    RunRef,
)

NO_SUCH = HumanText("There is nothing here under that name that you can open.")
AHEAD = HumanText("This answer has no event of that number yet.")
LATEST = 100


@dataclass(frozen=True, slots=True)
class OpenedSource:
    """A cited passage, as it stands now."""

    citation: Citation
    chunk: Chunk
    url: str | None


@dataclass(frozen=True, slots=True)
class TranscriptService:
    """Follows, stops and reopens what belongs to the person who asks; anything else is not there.

    Source:
        DESIGN D5, D23, "Public contracts".
    """

    turns: TurnService
    streams: RunStreams
    run_log: RunLogPort
    transcripts: TranscriptStorePort
    documents: DocumentStorePort
    scopes: ScopePolicy
    lineage: LineagePolicy

    async def follow(
        self, run: RunRef, principal: Principal, after: int
    ) -> Result[AsyncIterator[NumberedDelta]]:
        """Return the deltas of an own run after a cursor, then those to come.

        A run whose sources may not all be read any more is told without its content, sealed or not; a stream that
        is open already within a second.

        Errors:
            NotFoundError: There is no such run of this principal.
            InvalidArgumentError: The run has not come as far as the cursor says.
        """
        found = await self._own(run, principal)
        if isinstance(found, Err):
            return found
        status = found.value
        if after > status.last_cursor:
            return Err(InvalidArgumentError(AHEAD))
        if status.sealed and after == status.last_cursor:
            return Ok(nothing_more())
        watch = self._watch(status, principal)
        shown = await watch.may_see()
        if isinstance(shown, Err):
            return shown
        if shown.value:
            return Ok(watch.watched(status, self.streams.follow(run, after)))
        return Ok(withheld(status, self.streams.follow(run, status.last_cursor - 1), after))

    def _watch(self, status: RunStatus, principal: Principal) -> SourceWatch:
        person = principal.within(ConversationId(status.conversation_id))
        return SourceWatch(self.lineage, lambda: self._sources(status), lambda: self._scope(person))

    async def _sources(self, status: RunStatus) -> Result[frozenset[DocumentId]]:
        """Return all that a run came from; of one that goes on, all that it was given so far.

        Of one that goes on in another process that is its own passages, not those of the turns before it.
        """
        if status.sealed:
            return Ok(frozenset(map(DocumentId, status.lineage)))
        given = self.turns.lineage(status.run_ref)
        if given is not None:
            return Ok(given)
        issued = await self.transcripts.citations(status.run_ref)
        return issued.map(lambda every: frozenset(c.document_id for c in every))

    async def owned(self, run: RunRef, principal: Principal) -> Result[RunStatus]:
        """Return how an own run stands.

        Errors:
            NotFoundError: There is no such run of this principal.
        """
        return await self._own(run, principal)

    async def end(self, conversation: ConversationId, principal: Principal) -> Result[None]:
        """End an own conversation; a question in it opens it again.

        Errors:
            NotFoundError: It is absent or somebody else's.
        """
        scope = await self._scope(principal)
        if isinstance(scope, Err):
            return scope
        tenant = scope.value.tenant_id
        return await self.transcripts.end(tenant, principal.owner, conversation)

    async def opened(self, run: RunRef, principal: Principal) -> Result[RunStatus]:
        """Return how an own run stands, where all that it came from may still be read.

        Errors:
            NotFoundError: There is no such run of this principal, or it may not be shown again.
        """
        status = await self._own(run, principal)
        if isinstance(status, Err) or not status.value.sealed:
            return status
        readable = await self._watch(status.value, principal).may_see()
        if isinstance(readable, Err):
            return readable
        return status if readable.value else Err(NotFoundError(NO_SUCH))

    async def outcome(self, run: RunRef, principal: Principal) -> Result[Mapping[str, object]]:
        """Return how an own run ended.

        Errors:
            NotFoundError: As of `opened`, or it goes on still.
        """
        status = await self.opened(run, principal)
        if isinstance(status, Err):
            return status
        if not status.value.sealed:
            return Err(NotFoundError(NO_SUCH))
        ending = await self.run_log.deltas(run, status.value.last_cursor - 1, 1)
        if isinstance(ending, Err):
            return ending
        last = ending.value[0].delta
        assert isinstance(last, DoneDelta | FailedDelta)
        return Ok(last.outcome)

    async def stop(self, run: RunRef, principal: Principal) -> Result[None]:
        """End an own run as Halted with what it had; stopping it again changes nothing.

        Errors:
            NotFoundError: There is no such run of this principal.
        """
        status = await self._own(run, principal)
        if isinstance(status, Err):
            return status
        asked = await self.run_log.request_stop(run)
        self.turns.cancel(run)
        return asked

    async def source(self, run: RunRef, handle: str, principal: Principal) -> Result[OpenedSource]:
        """Open what a handle stands for in an own run, if it may still be read.

        Errors:
            NotFoundError: No such run, handle or passage for this principal: indistinguishable.
        """
        status = await self._own(run, principal)
        if isinstance(status, Err):
            return status
        citation = await self.transcripts.citation(run, handle)
        if isinstance(citation, Err):
            return _no_such(citation)
        conversation = ConversationId(status.value.conversation_id)
        scope = await self._scope(principal.within(conversation))
        if isinstance(scope, Err):
            return scope
        return await self._opened(citation.value, scope.value)

    async def _opened(self, citation: Citation, scope: Scope) -> Result[OpenedSource]:
        chunks = await self.documents.current([citation.chunk_id], scope)
        document = await self.documents.get(citation.document_id, scope)
        if isinstance(chunks, Err):
            return chunks
        if isinstance(document, Err):
            return _no_such(document)
        if not chunks.value:
            return Err(NotFoundError(NO_SUCH))
        return Ok(OpenedSource(citation, chunks.value[0], document.value.url))

    async def conversations(self, principal: Principal) -> Result[Sequence[Conversation]]:
        """Return the person's own conversations, newest first."""
        scope = await self._scope(principal)
        if isinstance(scope, Err):
            return scope
        return await self.transcripts.conversations(scope.value.tenant_id, principal.owner, LATEST)

    async def conversation(
        self, conversation: ConversationId, principal: Principal
    ) -> Result[tuple[Conversation, Sequence[PastTurn]]]:
        """Return one own conversation; a turn whose sources may not all be read is withheld, and says so.

        Errors:
            NotFoundError: It is absent or somebody else's.
        """
        scope = await self._scope(principal.within(conversation))
        if isinstance(scope, Err):
            return scope
        found = await self.transcripts.conversation(
            scope.value.tenant_id, principal.owner, conversation
        )
        if isinstance(found, Err):
            return found
        about, turns = found.value
        shown = await self.lineage.split(turns, scope.value)
        if isinstance(shown, Err):
            return shown
        return Ok(
            (
                about,
                [t if ok else replace(t, question="", answer=WITHHELD) for t, ok in shown.value],
            )
        )

    async def _own(self, run: RunRef, principal: Principal) -> Result[RunStatus]:
        status = await self.run_log.status(run)
        if isinstance(status, Err):
            return _no_such(status)
        of = (status.value.tenant_id, status.value.principal)
        if of != (principal.tenant_id, principal.owner):
            return Err(NotFoundError(NO_SUCH))
        return status

    async def _scope(self, principal: Principal) -> Result[Scope]:
        """Return the person's whole reach: an old run may rest on a corpus that no profile names now."""
        if principal.tenant_id is None:
            return Err(NotPermittedError(NO_SUCH))
        corpora = await self.documents.corpora(principal.tenant_id)
        if isinstance(corpora, Err):
            return corpora
        return await self.scopes.resolve(principal, [c.id for c in corpora.value])


def _no_such(failure: Err) -> Err:
    """Return the one answer for what is absent or not for this person; a fault stays a fault."""
    return Err(NotFoundError(NO_SUCH)) if isinstance(failure.error, NotFoundError) else failure
