import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogni_engine import (
    CitationDelta,
    Delta,
    DoneDelta,
    FailedDelta,
    MarkerDelta,
    Phase,
    PhaseDelta,
    ProposalDelta,
    RunDelta,
    TokenDelta,
    ToolCompletedDelta,
    from_payload,
    is_terminal,
    to_payload,
)
from cogni_engine.streaming.deltas import KINDS

texts = st.text(max_size=10)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
mappings = st.dictionaries(texts | st.sampled_from(["name", "tool", "call_id"]), values, max_size=4)
deltas: st.SearchStrategy[Delta] = st.one_of(
    st.builds(RunDelta, texts, texts),
    st.builds(TokenDelta, texts),
    st.builds(PhaseDelta, texts, texts),
    st.builds(ToolCompletedDelta, texts, texts, mappings, st.floats(0, 100), values),
    st.builds(MarkerDelta, texts, texts, mappings),
    st.builds(ProposalDelta, texts, mappings, texts),
    st.builds(CitationDelta, texts, texts, texts),
    st.builds(DoneDelta, mappings),
    st.builds(FailedDelta, mappings),
)
FIELDS = {
    "run": ["run_ref", "conversation_id"],
    "token": ["text"],
    "phase": ["phase", "detail"],
    "tool_completed": ["call_id", "name", "arguments", "execution_time", "result"],
    "marker": ["marker", "kind", "payload"],
    "proposal": ["id", "rendering", "expires_at"],
    "citation": ["handle", "label", "locator"],
    "done": ["outcome"],
    "failed": ["outcome"],
}


@given(deltas)
def test_a_delta_is_read_back_as_it_was_written(delta: Delta) -> None:
    assert from_payload(delta.name, to_payload(delta)) == delta


@given(deltas)
def test_a_delta_survives_its_json(delta: Delta) -> None:
    stored = json.dumps(to_payload(delta), ensure_ascii=False).encode()

    assert from_payload(delta.name, json.loads(stored)) == delta


@given(deltas)
def test_every_event_has_the_fields_of_the_contract(delta: Delta) -> None:
    assert list(to_payload(delta)) == FIELDS[delta.name]


def test_there_is_one_delta_for_every_event_of_the_contract() -> None:
    assert set(KINDS) == set(FIELDS)


@given(deltas)
def test_only_the_last_delta_of_a_run_is_terminal(delta: Delta) -> None:
    assert is_terminal(delta) is (delta.name in ("done", "failed"))


@given(deltas)
def test_a_payload_is_a_copy(delta: Delta) -> None:
    payload = to_payload(delta)
    for value in payload.values():
        if isinstance(value, dict):
            value["added"] = 1

    assert "added" not in str(getattr(delta, "outcome", ""))


@pytest.mark.parametrize(
    ("name", "payload"),
    [
        ("tokens", {"text": "a"}),
        ("", {}),
        ("token", {}),
        ("token", {"text": "a", "more": 1}),
        ("token", {1: "a"}),
        ("run", {"run_ref": "r1"}),
        ("tool_completed", {"call_id": "c1", "arguments": {}, "execution_time": 0, "result": 1}),
        (
            "tool_completed",
            {"call_id": "c1", "tool": "t", "arguments": {}, "execution_time": 0, "result": 1},
        ),
        (
            "tool_completed",
            {
                "call_id": "c1",
                "name": "n",
                "tool": "t",
                "arguments": {},
                "execution_time": 0,
                "result": 1,
            },
        ),
    ],
)
def test_what_is_no_delta_is_refused(name: str, payload: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="not a delta"):
        from_payload(name, payload)


def test_phases_are_named_as_the_contract_names_them() -> None:
    assert [p.value for p in Phase] == ["retrieving", "calling_tool", "rendering", "composing"]
