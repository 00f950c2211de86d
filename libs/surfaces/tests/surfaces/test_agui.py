import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from ag_ui.core import Event
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from cogni_engine import (
    CitationDelta,
    Delta,
    DoneDelta,
    FailedDelta,
    MarkerDelta,
    PhaseDelta,
    ProposalDelta,
    RunDelta,
    TokenDelta,
    ToolCompletedDelta,
)
from cogni_surfaces import AguiEvent, AguiRun, Language, View, json_line
from cogni_surfaces.texts import STATES

EVENT: TypeAdapter[Any] = TypeAdapter(Event)
PROPOSAL = {
    "id": "p1",
    "tool": "book_room",
    "state": "pending",
    "arguments": {"room": "Atrium"},
    "rendering": {"title": "Book a room"},
    "expires_at": "2026-03-02T09:00:00+00:00",
    "note": "",
}


def told(deltas: Sequence[Delta], language: Language = Language.EN) -> list[dict[str, Any]]:
    """Return a whole run as a client reads it."""
    run = AguiRun("t", "r", "ref", View(language), ["tools"])
    events = [event for delta in deltas for event in run.encode(delta)]
    return read([*events, *run.broken()])


def read(events: Sequence[AguiEvent]) -> list[dict[str, Any]]:
    lines = [json_line(event) for event in events]
    for line in lines:
        EVENT.validate_json(line)
    return [json.loads(line) for line in lines]


def kinds(events: Sequence[Mapping[str, Any]]) -> list[str]:
    return [event["type"] for event in events]


def why_invalid(events: Sequence[Mapping[str, Any]]) -> str | None:
    """Return what the protocol forbids in a stream of one run: an order, a pair that is not one, an end that is none."""
    if not events or events[0]["type"] != "RUN_STARTED":
        return "does not begin with RUN_STARTED"
    if events[-1]["type"] not in ("RUN_FINISHED", "RUN_ERROR"):
        return "does not end"
    opened: set[tuple[str, str]] = set()
    for event in events[1:-1]:
        wrong = _step(event, opened)
        if wrong:
            return wrong
    return f"left open: {opened}" if opened else None


_PAIRS = {
    "TEXT_MESSAGE": ("messageId", {"START": 1, "CONTENT": 0, "END": -1}),
    "TOOL_CALL": ("toolCallId", {"START": 1, "ARGS": 0, "END": -1}),
    "STEP": ("stepName", {"STARTED": 1, "FINISHED": -1}),
}


def _step(event: Mapping[str, Any], opened: set[tuple[str, str]]) -> str | None:
    kind = str(event["type"])
    if kind in ("CUSTOM", "TOOL_CALL_RESULT"):
        return None
    group, _, move = kind.rpartition("_")
    if group not in _PAIRS:
        return f"{kind} in the middle"
    field, moves = _PAIRS[group]
    which = (group, event[field])
    if (moves[move] == 1) is (which in opened):
        return f"{kind} of {which} at a wrong time"
    if moves[move] == 1:
        opened.add(which)
    elif moves[move] == -1:
        opened.discard(which)
    return None


TEXT = st.text(max_size=8) | st.sampled_from(["", "\ud800", "a\n\nb"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXT,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXT, inner, max_size=2),
    max_leaves=4,
)
OBJECT = st.dictionaries(TEXT, JSON, max_size=2)
USAGE = st.none() | st.fixed_dictionaries(
    {"input": st.integers(0, 9), "output": st.integers(0, 9), "absent": st.booleans()}
)
OUTCOMES: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {},
    optional={
        "kind": st.sampled_from(["completed", "refused", "halted", "proposed", "failed"]),
        "text": TEXT,
        "reason": st.sampled_from([None, "stopped", "withheld", "nothing_found"]),
        "message": st.none() | TEXT,
        "proposal": st.none() | st.just(PROPOSAL) | OBJECT,
        "usage": USAGE,
        "citations": st.just([]),
    },
)
DELTAS = st.one_of(
    st.builds(RunDelta, TEXT, TEXT),
    st.builds(TokenDelta, TEXT),
    st.builds(PhaseDelta, st.sampled_from(["retrieving", "composing", ""]), TEXT),
    st.builds(ToolCompletedDelta, TEXT, TEXT, OBJECT, st.floats(0, 9), JSON),
    st.builds(MarkerDelta, TEXT, TEXT, OBJECT),
    st.builds(ProposalDelta, TEXT, OBJECT, TEXT),
    st.builds(CitationDelta, TEXT, TEXT, TEXT),
)
MINTS_A_MESSAGE = ("TEXT_MESSAGE_START", "TOOL_CALL_RESULT")
TERMINALS = st.builds(DoneDelta, OUTCOMES) | st.builds(FailedDelta, OUTCOMES)


@given(st.lists(DELTAS | TERMINALS, max_size=20))
def test_whatever_the_deltas_the_stream_is_one_run_of_the_protocol(deltas: list[Delta]) -> None:
    events = told(deltas)

    assert why_invalid(events) is None
    assert sum(kind in ("RUN_FINISHED", "RUN_ERROR") for kind in kinds(events)) == 1


@given(st.lists(DELTAS, max_size=20), TERMINALS)
def test_what_is_shown_is_the_text_of_the_deltas_and_nothing_else(
    deltas: list[Delta], end: Delta
) -> None:
    events = told([*deltas, end])

    sent = "".join(d.text for d in deltas if isinstance(d, TokenDelta))
    shown = "".join(e["delta"] for e in events if e["type"] == "TEXT_MESSAGE_CONTENT")
    assert shown == json.loads(json_line({"text": sent}))["text"]


@given(st.lists(DELTAS, max_size=20), TERMINALS)
def test_no_message_and_no_call_is_named_twice(deltas: list[Delta], end: Delta) -> None:
    events = told([*deltas, end])

    messages = [e["messageId"] for e in events if e["type"] in MINTS_A_MESSAGE]
    calls = [e["toolCallId"] for e in events if e["type"] == "TOOL_CALL_START"]
    assert len(messages) == len(set(messages))
    assert len(calls) == len(set(calls))


@given(st.lists(DELTAS | TERMINALS, max_size=20))
def test_a_run_that_is_encoded_again_gives_the_same_events(deltas: list[Delta]) -> None:
    assert told(deltas) == told(deltas)


@pytest.mark.parametrize(
    "events",
    [
        ["RUN_FINISHED"],
        ["RUN_STARTED"],
        ["RUN_STARTED", "RUN_STARTED", "RUN_FINISHED"],
        ["RUN_STARTED", "RUN_FINISHED", "RUN_FINISHED"],
        ["RUN_STARTED", "TEXT_MESSAGE_START", "RUN_FINISHED"],
        ["RUN_STARTED", "TEXT_MESSAGE_CONTENT", "RUN_FINISHED"],
        ["RUN_STARTED", "TOOL_CALL_START", "TOOL_CALL_START", "RUN_ERROR"],
        ["RUN_STARTED", "STEP_FINISHED", "RUN_FINISHED"],
    ],
)
def test_what_the_protocol_forbids_is_caught(events: list[str]) -> None:
    ids = {"messageId": "m", "toolCallId": "c", "stepName": "s"}

    assert why_invalid([{"type": kind, **ids} for kind in events]) is not None


def test_a_run_that_was_stopped_is_cancelled() -> None:
    events = told([DoneDelta({"kind": "halted", "reason": "stopped", "text": "So far"})])

    assert events[-1]["outcome"] == {"type": "cancelled"}


@pytest.mark.parametrize("reason", ["call_ceiling", "context_ceiling", "deadline"])
def test_a_run_that_came_to_a_bound_is_an_answer(reason: str) -> None:
    events = told([DoneDelta({"kind": "halted", "reason": reason, "text": "So far"})])

    assert events[-1]["outcome"] == {"type": "success"}
    assert events[-1]["result"]["reason"] == reason


def test_what_may_not_be_shown_again_is_an_error_that_says_so() -> None:
    outcome = {"kind": "completed", "reason": "withheld", "text": "Not for you."}

    events = told([RunDelta("r", "c"), DoneDelta(outcome)])

    assert (events[-1]["type"], events[-1]["code"]) == ("RUN_ERROR", "withheld")
    assert "TEXT_MESSAGE_START" not in kinds(events)


def test_a_failure_is_told_in_the_persons_language() -> None:
    events = told([FailedDelta({"message": None})], Language.DE)

    assert events[-1]["message"].startswith("Der Assistent konnte nicht antworten")


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({"input": 7, "output": 2, "absent": False}, [{"inputTokens": 7, "outputTokens": 2}]),
        ({"input": 7, "output": 2, "absent": True}, None),
        (None, None),
    ],
)
def test_tokens_are_told_where_the_provider_counted_them(usage: object, expected: object) -> None:
    assert told([DoneDelta({"usage": usage})])[-1].get("usage") == expected


@pytest.mark.parametrize(
    ("result", "content"),
    [
        ("text", "text"),
        ("", ""),
        (None, ""),
        ({"hits": 1}, '{"hits":1}'),
        ([1], '{"result":[1]}'),
        (0, '{"result":0}'),
    ],
)
def test_the_echo_of_a_result_is_text(result: object, content: str) -> None:
    events = told([ToolCompletedDelta("c1", "search", {}, 0.1, result)])

    [answer] = [e for e in events if e["type"] == "TOOL_CALL_RESULT"]
    assert answer["content"] == content


def test_text_after_a_call_is_a_message_of_its_own() -> None:
    call = ToolCompletedDelta("c1", "search", {}, 0.1, "x")

    events = told([TokenDelta("Before. "), call, TokenDelta("After.")])

    assert len({e["messageId"] for e in events if e["type"] == "TEXT_MESSAGE_START"}) == 2


def test_a_text_says_that_it_was_generated() -> None:
    [start] = [e for e in told([TokenDelta("x")]) if e["type"] == "TEXT_MESSAGE_START"]

    assert "Generated" in start["metadata"]["generated_label"]


@pytest.mark.parametrize("state", [*STATES])
@pytest.mark.parametrize("note", ["", "Booked: Atrium."])
def test_a_decision_is_a_whole_run_that_says_how_it_stands(state: str, note: str) -> None:
    run = AguiRun("t", "r", "p1", View())

    events = read(run.decided({**PROPOSAL, "state": state, "note": note}))

    assert why_invalid(events) is None
    assert [e["delta"] for e in events if e["type"] == "TEXT_MESSAGE_CONTENT"] == [
        note or STATES[state]
    ]
    assert run.ended
    assert run.broken() == []
