"""Threads that take the most urgent work first, so that indexing never keeps a person waiting."""

import heapq
import itertools
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from enum import IntEnum
from typing import Any, TypeVar

R = TypeVar("R")


class Urgency(IntEnum):
    """How soon work must be done; the lowest goes first."""

    AT_ONCE = 0
    SOON = 1
    LATER = 2


class UrgentFirst:
    """A few threads and one queue, ordered by urgency, then by arrival.

    Work should be short: what runs is never interrupted, so it is the longest that anything urgent waits.
    A cancelled future is skipped when its turn comes.
    """

    def __init__(self, threads: int) -> None:
        self._threads = ThreadPoolExecutor(threads, "minilm")
        self._lock = threading.Lock()
        self._order = itertools.count()
        self._waiting: list[tuple[Urgency, int, Future[Any], Callable[[], Any]]] = []

    def submit(self, urgency: Urgency, work: Callable[[], R]) -> "Future[R]":
        """Queue `work`; its result or exception is the future's."""
        future: Future[R] = Future()
        with self._lock:
            heapq.heappush(self._waiting, (urgency, next(self._order), future, work))
        self._threads.submit(self._run_most_urgent)
        return future

    def _run_most_urgent(self) -> None:
        with self._lock:
            _, _, future, work = heapq.heappop(self._waiting)
        if not future.set_running_or_notify_cancel():
            return
        try:
            result = work()
        except BaseException as failure:
            future.set_exception(failure)
        else:
            future.set_result(result)
