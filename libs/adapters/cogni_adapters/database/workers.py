"""Threads for work that blocks, and the loop that is told when it is done."""

import asyncio
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import TypeAlias, TypeVar

T = TypeVar("T")
_Job: TypeAlias = tuple[Callable[[], object], asyncio.AbstractEventLoop, "asyncio.Future[object]"]


class Workers:
    """A few threads that take work in turn; with one of them, work is done in the order in which it was given.

    Two thirds of what `run_in_executor` costs, which is as much as a small query: nobody but the loop waits here.
    Work whose caller was cancelled before it began is not done; work that has begun is done to its end.
    """

    def __init__(self, count: int, name: str) -> None:
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._names = [f"{name}-{n}" for n in range(count)]
        self._threads: list[threading.Thread] = []
        self._is_closed = False

    async def run(self, work: Callable[[], T]) -> T:
        """Do `work` in a thread; return or raise what it does.

        Raises:
            RuntimeError: The workers are closed.
        """
        if self._is_closed:
            raise RuntimeError("the database is closed")
        if not self._threads:
            self._start()
        loop = asyncio.get_running_loop()
        done: asyncio.Future[T] = loop.create_future()
        self._jobs.put((work, loop, done))  # type: ignore[arg-type]
        return await done

    def close(self) -> None:
        """Do what was given, then end; blocks meanwhile."""
        self._is_closed = True
        for _ in self._names:
            self._jobs.put(None)
        for thread in self._threads:
            thread.join()

    def _start(self) -> None:
        self._threads = [
            threading.Thread(target=self._serve, name=name, daemon=True) for name in self._names
        ]
        for thread in self._threads:
            thread.start()

    def _serve(self) -> None:
        while (job := self._jobs.get()) is not None:
            work, loop, done = job
            if done.cancelled():
                continue
            try:
                answer = work()
            except BaseException as error:  # it is raised where the work was asked for
                _tell(loop, _raise, done, error)
            else:
                _tell(loop, _answer, done, answer)
                del answer
            del job, work, done


def _tell(loop: asyncio.AbstractEventLoop, how: Callable[..., None], *what: object) -> None:
    """Tell the loop, unless it is gone and nobody waits any more."""
    if not loop.is_closed():
        loop.call_soon_threadsafe(how, *what)


def _answer(done: "asyncio.Future[object]", answer: object) -> None:
    if not done.done():
        done.set_result(answer)


def _raise(done: "asyncio.Future[object]", error: BaseException) -> None:
    if not done.done():
        done.set_exception(error)
