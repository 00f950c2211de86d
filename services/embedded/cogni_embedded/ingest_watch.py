"""How far ingests are, and what stopped one, for whoever wants to show it."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass, field

from cogni_application.indexing.ingest import Progress
from cogni_application.lanes import Handler
from cogni_domain.jobs import LeasedJob
from cogni_kernel import Err, Error, Result


@dataclass
class IngestWatch:
    """The figures of all ingests of this process, and what went wrong with the newest jobs of each kind.

    Attributes:
        listener: Told of both as they come.
    """

    listener: Callable[["IngestWatch"], None] = lambda _: None
    _errors: dict[object, Error | None] = field(default_factory=dict)
    _running: dict[object, Progress] = field(default_factory=dict)
    _ended: list[Progress] = field(default_factory=list)

    @property
    def progress(self) -> Progress:
        """The sum over all ingests, each counted from where it began or went on."""
        every = [Progress(), *self._ended, *self._running.values()]
        return Progress(*map(sum, zip(*map(astuple, every), strict=True)))

    @property
    def error(self) -> Error | None:
        """What goes wrong at the moment, None where all goes well."""
        return next((error for error in self._errors.values() if error is not None), None)

    def note(self, progress: Progress) -> None:
        """Take the newest figures of the ingest that runs in this task."""
        task = asyncio.current_task()
        before = self._running.get(task)
        if before is not None and not _goes_on(before, progress):
            self._ended.append(before)
        self._running[task] = progress
        self.listener(self)

    def watched(self, handler: Handler) -> Handler:
        """Return the handler, its errors noted."""

        async def noted(jobs: Sequence[LeasedJob]) -> Sequence[Result[None]]:
            results = await handler(jobs)
            errors = (result.error for result in results if isinstance(result, Err))
            self._errors[handler] = next(errors, None)
            self.listener(self)
            return results

        return noted

    def line(self) -> str:
        """Return the figures in one line for a person."""
        p = self.progress
        return (
            f"{p.seen} documents: {p.indexed} indexed, {p.unchanged} unchanged, "
            f"{p.skipped} on the gap list"
        )


def _goes_on(before: Progress, now: Progress) -> bool:
    """Tell whether figures are later ones of the same ingest: none of them ever falls."""
    later = list(zip(astuple(before), astuple(now), strict=True))
    return before != now and all(old <= new for old, new in later)
