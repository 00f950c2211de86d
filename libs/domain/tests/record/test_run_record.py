"""Steps of a run as a record keeps them."""

import json

import pytest

from cogni_domain.run_record import (
    ConfirmationStep,
    RetrievalStep,
    RunRecord,
    Step,
    StripStep,
    step_payload,
)
from cogni_engine import BroadcastStep, ModelCallStep, RefusalStep, ToolCallStep
from cogni_kernel import TaskClass, TokenCount, Usage
from cogni_testing.contracts.runs import an_opening

USAGE = Usage(TokenCount(7), TokenCount(2), 1, 0, TaskClass.CONVERSATIONAL)
EVERY: tuple[tuple[str, Step], ...] = (
    ("ModelCall", ModelCallStep("m@1", USAGE, 2)),
    ("ModelCall", ModelCallStep("m@1", Usage.zero(), 0, "Upstream", "why")),
    ("ToolCall", ToolCallStep("c1", "book", "1.0.0", "{}", 0.1)),
    ("Refusal", RefusalStep("c1", "book")),
    ("Broadcast", BroadcastStep("[[CHART:c1]]", "Delivered")),
    ("Confirmation", ConfirmationStep("p1", "accepted", "alice")),
    ("Retrieval", RetrievalStep("digest", ("d:1:0",), {"d:1:1": "beyond"}, 1)),
    ("Strip", StripStep("citation", "[s9]")),
)


@pytest.mark.parametrize(("name", "step"), EVERY)
def test_a_step_is_plain_json_under_its_name(name: str, step: Step) -> None:
    payload = json.loads(json.dumps(step_payload(step)))

    assert payload["step"] == name
    assert len(payload) > 1


def test_the_class_of_a_task_is_kept_by_its_value() -> None:
    used = step_payload(EVERY[0][1])["usage"]
    none = step_payload(EVERY[1][1])["usage"]

    assert isinstance(used, dict)
    assert isinstance(none, dict)
    assert (used["task_class"], none["task_class"]) == (TaskClass.CONVERSATIONAL.value, None)


def test_a_record_begins_with_its_opening() -> None:
    record = RunRecord(an_opening())

    assert (record.steps, record.sealing, record.reads) == ((), None, ())
