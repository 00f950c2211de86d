import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogni_domain.ports.run_log import NumberedDelta
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
from cogni_surfaces import GENERATED_LABEL, json_line, server_event

DELTAS: list[tuple[Delta, str, list[str]]] = [
    (RunDelta("r", "c"), "run", ["run_ref", "conversation_id"]),
    (TokenDelta("t"), "token", ["text"]),
    (PhaseDelta("retrieving", "Searching"), "phase", ["phase", "detail"]),
    (
        ToolCompletedDelta("1", "search", {"q": "x"}, 0.2, {"hits": 1}),
        "tool_completed",
        ["call_id", "name", "arguments", "execution_time", "result"],
    ),
    (MarkerDelta("[[CHART:c1]]", "CHART", {}), "marker", ["marker", "kind", "payload"]),
    (
        ProposalDelta("p", {}, "2026-03-02T09:00:00+00:00"),
        "proposal",
        ["id", "rendering", "expires_at"],
    ),
    (CitationDelta("s1", "Leave", "p. 2"), "citation", ["handle", "label", "locator"]),
    (DoneDelta({"text": "x"}), "done", ["outcome"]),
    (FailedDelta({"text": "x"}), "failed", ["outcome"]),
]
LINE_ENDS = "\r\n\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"


@pytest.mark.parametrize(("delta", "name", "fields"), DELTAS, ids=[d[1] for d in DELTAS])
def test_each_delta_has_the_name_and_the_fields_of_the_contract(
    delta: Delta, name: str, fields: list[str]
) -> None:
    event = server_event(NumberedDelta(7, delta))

    assert (event.id, event.event) == ("7", name)
    assert list(json.loads(event.data)) == fields


@pytest.mark.parametrize("kind", [DoneDelta, FailedDelta])
def test_a_terminal_delta_carries_its_outcome_disclosed(
    kind: type[DoneDelta] | type[FailedDelta],
) -> None:
    event = server_event(NumberedDelta(1, kind({"text": "**x**", "kind": "completed"})))
    shown = json.loads(event.data)["outcome"]

    assert shown["generated_label"] == GENERATED_LABEL
    assert "<strong>x</strong>" in shown["html"]


@given(st.text())
def test_no_text_can_end_its_line(text: str) -> None:
    data = server_event(NumberedDelta(1, TokenDelta(f"{text}\r\n\nevent: done{LINE_ENDS}"))).data

    assert len(data.splitlines()) == 1
    assert json.loads(data)["text"] == f"{text}\r\n\nevent: done{LINE_ENDS}"


@pytest.mark.parametrize(
    ("text", "read"), [("\ud800x", "\ufffdx"), ("\ud83d\ude00", "😀"), ("\x00\x1b", "\x00\x1b")]
)
def test_what_is_no_text_is_still_sent_as_utf_8(text: str, read: str) -> None:
    data = json_line({"text": text})

    assert json.loads(data.encode())["text"] == read


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_a_number_that_is_none_is_null(number: float) -> None:
    data = json_line({"series": [{"values": (1.5, number)}]})

    assert json.loads(data) == {"series": [{"values": [1.5, None]}]}
    assert "N" not in data
