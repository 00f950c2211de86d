"""The queue in front of the model."""

import threading
from concurrent.futures import Future

import pytest

from cogni_adapters.minilm.urgency import Urgency, UrgentFirst


def blocked(queue: UrgentFirst) -> tuple[threading.Event, "Future[None]"]:
    """Occupy the queue's only thread until the event is set."""
    go, started = threading.Event(), threading.Event()

    def work() -> None:
        started.set()
        go.wait(60)

    future = queue.submit(Urgency.AT_ONCE, work)
    started.wait(60)
    return go, future


def test_the_most_urgent_goes_first_and_then_the_one_that_came_first() -> None:
    queue = UrgentFirst(1)
    order: list[str] = []
    go, _ = blocked(queue)
    waiting = [
        queue.submit(urgency, lambda name=name: order.append(name))  # type: ignore[misc]
        for urgency, name in (
            (Urgency.LATER, "index 1"),
            (Urgency.LATER, "index 2"),
            (Urgency.SOON, "rank"),
            (Urgency.AT_ONCE, "question"),
        )
    ]

    go.set()
    for future in waiting:
        future.result(10)

    assert order == ["question", "rank", "index 1", "index 2"]


def test_cancelled_work_is_not_done() -> None:
    queue = UrgentFirst(1)
    done: list[str] = []
    go, _ = blocked(queue)
    given_up = queue.submit(Urgency.SOON, lambda: done.append("given up"))
    kept = queue.submit(Urgency.LATER, lambda: done.append("kept"))

    given_up.cancel()
    go.set()
    kept.result(10)

    assert done == ["kept"]


def test_a_failure_belongs_to_whoever_waits_and_the_queue_goes_on() -> None:
    queue = UrgentFirst(1)

    failed = queue.submit(Urgency.AT_ONCE, lambda: 1 // 0)
    after = queue.submit(Urgency.AT_ONCE, lambda: 1 // 1)

    with pytest.raises(ZeroDivisionError):
        failed.result(10)
    assert after.result(10) == 1
