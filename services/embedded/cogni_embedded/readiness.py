"""Whether a question can be asked now, and would be answered fully."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from cogni_domain.jobs import Lane
from cogni_domain.ports.clock import ClockPort
from cogni_domain.ports.document_store import DocumentStorePort
from cogni_domain.ports.model import ModelPort
from cogni_domain.ports.queue import QueuePort
from cogni_embedded.bootstrap import Product
from cogni_engine import HealthState
from cogni_kernel import Err, HumanText, Ok, Result, UpstreamError

TRY_EVERY = timedelta(seconds=10)
MODEL_DOWN = HumanText("The language model does not answer at the moment. Please try again soon.")


@dataclass
class Admission:
    """Refuses runs while the language model is down, but for one now and then that shows whether it still is."""

    model: ModelPort
    clock: ClockPort
    _next_try: datetime | None = field(default=None, init=False)

    def admits(self) -> Result[None]:
        """Tell whether a run can be opened.

        Errors:
            UpstreamError: The language model is down.
        """
        if self.model.health() is not HealthState.DOWN:
            self._next_try = None
            return Ok(None)
        now = self.clock.now()
        tries = self._next_try is not None and now >= self._next_try
        if tries or self._next_try is None:
            self._next_try = now + TRY_EVERY
        if tries:
            return Ok(None)
        wait = (self._next_try - now).total_seconds()
        return Err(UpstreamError(MODEL_DOWN, detail={"retry_after_s": wait}))


@dataclass
class Readiness:
    """Waits for the first reading of each corpus, and its indexing; later ones go on while it answers."""

    product: Product
    _first_reading: bool = field(default=False, init=False)

    async def why_not(self) -> str | None:
        """Return why a question could not be answered fully yet, None where it could."""
        if self.product.bindings.container.resolve(ModelPort).health() is HealthState.DOWN:
            return str(MODEL_DOWN)
        unread = await self._unread()
        if unread is None and self._first_reading:
            unread = await self._unindexed()
        self._first_reading = unread is not None
        return unread

    async def _unread(self) -> str | None:
        """A corpus was never read to its end."""
        documents = self.product.bindings.container.resolve(DocumentStorePort)
        for tenant in self.product.demo.intranets:
            corpora = await documents.corpora(tenant)
            if isinstance(corpora, Err):
                return str(corpora.error.message)
            if any(corpus.indexed_through is None for corpus in corpora.value):
                seen = self.product.watch.progress.seen
                return f"Still reading documents: {seen} so far. Try again soon."
        return None

    async def _unindexed(self) -> str | None:
        waiting = await self.product.bindings.container.resolve(QueuePort).depth(Lane.INDEXING)
        if isinstance(waiting, Err):
            return str(waiting.error.message)
        return f"Still indexing: {waiting.value} to go. Try again soon." if waiting.value else None
