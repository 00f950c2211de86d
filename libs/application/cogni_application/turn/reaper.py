"""Runs whose owner died: each is ended as Failed, with what it had."""

import asyncio
from dataclasses import dataclass

from cogni_application.turn.ground import AnswerGuard, Evidence
from cogni_application.turn.outcome_view import OutcomeParts, outcome_payload
from cogni_domain.knowledge.citations import Citation, Unissued
from cogni_domain.ports.run_log import RunLogPort, RunStatus
from cogni_domain.ports.transcript_store import TranscriptStorePort
from cogni_domain.run_record import Sealing
from cogni_engine import CitationDelta, Clock, Failed, FailedDelta, TokenDelta
from cogni_kernel import ConversationId, Err, HumanText, RunRef, UpstreamError, Usage

INTERVAL_S = 2.0
PAGE = 1000
INTERRUPTED = HumanText("The answer was interrupted on our side. Please ask again.")


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
        while True:
            await self.sweep()
            await asyncio.sleep(INTERVAL_S)

    async def sweep(self) -> int:
        """End every orphan there is; return how many."""
        orphans = await self.run_log.orphans(self.clock.now())
        if isinstance(orphans, Err):
            return 0
        return sum([await self._seal(run) for run in orphans.value])

    async def _seal(self, run: RunRef) -> bool:
        status = await self.run_log.status(run)
        if isinstance(status, Err):
            return False
        guard = await self._shown(status.value)
        failed = Failed(UpstreamError(INTERRUPTED), guard.text)
        conversation = ConversationId(status.value.conversation_id)
        parts = OutcomeParts(run, conversation, guard, {}, Usage.zero(), None, None)
        payload = outcome_payload(failed, parts)
        sealing = Sealing(
            kind=failed.kind.value,
            outcome=payload,
            answer=guard.text,
            usage=Usage.zero(),
            lineage=frozenset(c.document_id for c in guard.cited),
            sealed_at=self.clock.now(),
        )
        sealed = await self.run_log.seal(run, None, sealing, FailedDelta(payload), [], None)
        return not isinstance(sealed, Err) and sealed.value

    async def _shown(self, status: RunStatus) -> AnswerGuard:
        """Return what the log says was shown."""
        guard = AnswerGuard(Evidence(lambda _: Unissued.UNISSUED, lambda _: False, frozenset))
        after = 0
        while True:
            found = await self.run_log.deltas(status.run_ref, after, PAGE)
            if isinstance(found, Err) or not found.value:
                return guard
            for numbered in found.value:
                after = numbered.cursor
                if isinstance(numbered.delta, TokenDelta):
                    guard.text += numbered.delta.text
                if isinstance(numbered.delta, CitationDelta):
                    guard.cited.extend(await self._citation(status.run_ref, numbered.delta))

    async def _citation(self, run: RunRef, delta: CitationDelta) -> list[Citation]:
        found = await self.transcripts.citation(run, delta.handle)
        return [] if isinstance(found, Err) else [found.value]
