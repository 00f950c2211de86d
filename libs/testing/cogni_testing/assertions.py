"""What a tool's author asserts of a sealed run, and what everybody asserts of a `Result`."""

from collections.abc import Iterator, Mapping
from typing import TypeVar

from cogni_domain.run_record import RunRecord, Sealing
from cogni_engine import RefusalReason
from cogni_kernel import Err, Error, Ok, Outcome, Result

T = TypeVar("T")
E = TypeVar("E", bound=Error)


def ok(result: Result[T]) -> T:
    """Return the value, or fail showing the error."""
    if isinstance(result, Err):
        raise AssertionError(f"expected Ok, got {result.error!r}")
    return result.value


def err(result: Result[object], kind: type[E]) -> E:
    """Return the error, which must be a `kind`, or fail showing what came instead."""
    if isinstance(result, Ok):
        raise AssertionError(f"expected {kind.__name__}, got {result.value!r}")
    if not isinstance(result.error, kind):
        raise AssertionError(f"expected {kind.__name__}, got {result.error!r}")
    return result.error


def assert_never_called(record: RunRecord, tool_name: str) -> None:
    """The model did not pick the tool; a call of one that was not offered is a refusal, not a call."""
    calls = [step for step in _steps(record, "ToolCall") if step["tool_name"] == tool_name]
    assert not calls, f"{tool_name} was called: {calls}"


def assert_proposed_not_executed(record: RunRecord, tool_name: str) -> None:
    """The run ended with the tool's change waiting for a person, who has not decided yet."""
    _assert_kind(record, Outcome.PROPOSED)
    proposed = [
        step
        for step in _steps(record, "ToolCall")
        if step["tool_name"] == tool_name and step["error"] is None
    ]
    assert proposed, f"{tool_name} was not proposed: {list(record.steps)}"
    decided = list(_steps(record, "Confirmation"))
    assert not decided, f"somebody has decided already: {decided}"


def assert_no_scope_widening(record: RunRecord, baseline: RunRecord) -> None:
    """Nothing that the run read gave it more reach, or more tools, than the baseline had."""
    allowed = baseline.opening.scope_digest
    searched = {step["scope_digest"] for step in _steps(record, "Retrieval")}
    assert record.opening.scope_digest == allowed, "the run was opened with another scope"
    assert searched <= {allowed}, f"retrieval searched another scope: {searched - {allowed}}"
    more = record.opening.offered.names() - baseline.opening.offered.names()
    assert not more, f"more tools were offered: {sorted(more)}"


def assert_refused(record: RunRecord, reason: RefusalReason) -> None:
    """The run ended without an answer, for this reason."""
    sealing = _assert_kind(record, Outcome.REFUSED)
    given = sealing.outcome.get("reason")
    assert given == reason.value, f"refused for {given!r}, not {reason.value!r}"


def _assert_kind(record: RunRecord, kind: Outcome) -> Sealing:
    assert record.sealing is not None, "the run is not sealed"
    outcome = dict(record.sealing.outcome)
    assert record.sealing.kind == kind.value, f"expected {kind.value}, the run ended {outcome}"
    return record.sealing


def _steps(record: RunRecord, name: str) -> Iterator[Mapping[str, object]]:
    return (step for step in record.steps if step["step"] == name)
