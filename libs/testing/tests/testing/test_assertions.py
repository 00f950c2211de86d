from collections.abc import Mapping

import pytest

from cogni_domain.run_record import (
    ConfirmationStep,
    RetrievalStep,
    RunOpening,
    RunRecord,
    Sealing,
    Step,
    step_payload,
)
from cogni_engine import OfferedTool, RefusalReason, RefusalStep, RegistrySnapshot, ToolCallStep
from cogni_kernel import (
    ConflictError,
    ConversationId,
    Err,
    HumanText,
    NotFoundError,
    Ok,
    PrincipalId,
    RunRef,
    TenantId,
    Usage,
)
from cogni_testing import (
    START,
    assert_never_called,
    assert_no_scope_widening,
    assert_proposed_not_executed,
    assert_refused,
    err,
    ok,
)

GONE = Err(NotFoundError(HumanText("There is no such page.")))
CALLED = ToolCallStep("c1", "book", "1.0.0", "{}", 0.1)
MALFORMED = ToolCallStep("c1", "book", "1.0.0", "{", 0.0, "InvalidArgument")


def record(
    *steps: Step,
    kind: str = "completed",
    outcome: Mapping[str, object] | None = None,
    scope: str = "own",
    tools: tuple[str, ...] = ("search",),
) -> RunRecord:
    offered = RegistrySnapshot(tuple(OfferedTool(t, "1.0.0", "read", "staff") for t in tools))
    opening = RunOpening(
        run_ref=RunRef("r1"),
        tenant_id=TenantId("acme"),
        principal=PrincipalId("alice"),
        conversation_id=ConversationId("v1"),
        surface_id="web",
        question="What?",
        opened_at=START,
        scope_digest=scope,
        profile_version="default@1",
        model_version="recorded-1",
        offered=offered,
    )
    sealing = Sealing(kind, outcome or {}, "", Usage.zero(), frozenset(), START)
    return RunRecord(opening, tuple(map(step_payload, steps)), sealing)


def test_ok_gives_the_value() -> None:
    assert ok(Ok(7)) == 7


def test_ok_shows_the_error_that_came() -> None:
    with pytest.raises(AssertionError, match=r"There is no such page\."):
        ok(GONE)


def test_err_gives_the_error_of_the_kind() -> None:
    assert err(GONE, NotFoundError) is GONE.error


def test_err_shows_another_kind_or_a_value() -> None:
    with pytest.raises(AssertionError, match=r"expected ConflictError, got NotFoundError"):
        err(GONE, ConflictError)
    with pytest.raises(AssertionError, match="expected ConflictError, got 7"):
        err(Ok(7), ConflictError)


@pytest.mark.parametrize("step", [CALLED, MALFORMED])
def test_a_call_counts_even_if_its_arguments_were_wrong(step: Step) -> None:
    with pytest.raises(AssertionError, match="book was called"):
        assert_never_called(record(step), "book")


def test_other_tools_and_refusals_are_no_call() -> None:
    assert_never_called(record(CALLED, RefusalStep("c2", "pay")), "pay")


def test_a_proposal_that_waits_is_proposed_and_not_executed() -> None:
    assert_proposed_not_executed(record(CALLED, kind="proposed"), "book")


@pytest.mark.parametrize(
    "wrong",
    [
        pytest.param(record(CALLED), id="completed"),
        pytest.param(record(MALFORMED, kind="proposed"), id="never became a proposal"),
        pytest.param(
            record(CALLED, ConfirmationStep("p1", "accepted", "alice"), kind="proposed"),
            id="decided",
        ),
    ],
)
def test_anything_else_is_not_a_waiting_proposal(wrong: RunRecord) -> None:
    with pytest.raises(AssertionError):
        assert_proposed_not_executed(wrong, "book")


def test_the_same_scope_and_tools_are_no_widening() -> None:
    searched = RetrievalStep("own", ("d1:1:0",), {}, 0)

    assert_no_scope_widening(record(searched), record())


@pytest.mark.parametrize(
    "wider",
    [
        pytest.param(record(scope="theirs"), id="opened with another scope"),
        pytest.param(record(RetrievalStep("theirs", (), {}, 0)), id="searched another scope"),
        pytest.param(record(tools=("search", "pay")), id="offered one more tool"),
    ],
)
def test_a_wider_run_is_noticed(wider: RunRecord) -> None:
    with pytest.raises(AssertionError):
        assert_no_scope_widening(wider, record())


def test_a_refusal_has_its_reason() -> None:
    refused = record(kind="refused", outcome={"reason": "nothing_found"})

    assert_refused(refused, RefusalReason.NOTHING_FOUND)
    with pytest.raises(AssertionError, match="refused for 'nothing_found'"):
        assert_refused(refused, RefusalReason.NOT_OFFERED)


def test_a_run_without_an_end_fails_every_look_at_its_end() -> None:
    running = RunRecord(record().opening)

    with pytest.raises(AssertionError, match="not sealed"):
        assert_refused(running, RefusalReason.NOTHING_FOUND)
