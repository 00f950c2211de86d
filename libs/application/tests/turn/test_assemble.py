from datetime import UTC, datetime

import pytest

from cogni_application.turn.assemble import UNANSWERED, WAITING, assemble
from cogni_domain.conversations import PastTurn
from cogni_engine import Message, Origin, Role
from cogni_kernel import HumanText, ModelFacingText, RunRef

NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)


def history(answer: str, kind: str) -> list[Message]:
    """Return what the model reads of a past turn."""
    past = PastTurn(RunRef("r"), NOW, "Book a room.", answer, kind, frozenset())
    thread = assemble(ModelFacingText(""), [(past, True)], (), HumanText("And now?"))
    return [message for message in thread.messages if message.origin is Origin.HISTORY]


def test_a_past_turn_is_its_question_and_its_answer() -> None:
    asked, answered = history("Done so.", "completed")

    assert (asked.role, asked.text) == (Role.USER, "Book a room.")
    assert (answered.role, answered.text) == (Role.ASSISTANT, "Done so.")


@pytest.mark.parametrize(
    ("kind", "note"), [("proposed", WAITING), ("halted", UNANSWERED), ("failed", UNANSWERED)]
)
@pytest.mark.parametrize("answer", ["", " \n"])
def test_a_past_turn_without_a_text_is_no_empty_message(kind: str, note: str, answer: str) -> None:
    [told] = history(answer, kind)

    assert told.role is Role.USER
    assert told.text.startswith("Book a room.")
    assert note in told.text
