import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogni_adapters.recorded.model import (
    RecordedModelAdapter,
    Splitter,
    by_characters,
    by_words,
)
from cogni_engine import Delta, Emitter, Message, Response, ToolCall, describe
from cogni_kernel import HumanText, UpstreamError
from cogni_testing import err, ok
from cogni_testing.contracts.model import ModelContract

QUESTION = (Message.user(HumanText("What about leave?")),)
LOOK = describe("look", does="Looks.", use_when="asked", do_not_use="otherwise")


class TestRecordedModel(ModelContract):
    def make_model(self) -> RecordedModelAdapter:
        return RecordedModelAdapter([Response("Twenty weeks [s4].")])


async def test_the_script_is_replayed_in_order() -> None:
    first = Response("", (ToolCall("c1", "look", "{}"),))
    second = Response("It is 16 weeks.")
    model = RecordedModelAdapter([first, second])

    answers = [ok(await model.complete(QUESTION, (), None)) for _ in range(2)]

    assert [(a.text, a.tool_calls) for a in answers] == [("", first.tool_calls), (second.text, ())]


async def test_what_was_sent_is_remembered() -> None:
    model = RecordedModelAdapter([Response("Yes.")])
    sent = list(QUESTION)

    await model.complete(sent, [LOOK], None)
    sent.clear()

    (call,) = model.calls()
    assert call.messages == QUESTION
    assert call.tools == (LOOK,)


async def test_a_script_that_is_exhausted_says_so_and_is_not_asked_again() -> None:
    model = RecordedModelAdapter([Response("Yes.")])
    await model.complete(QUESTION, (), None)

    error = err(await model.complete(QUESTION, (), None), UpstreamError)

    assert "has 1 answers and was asked for number 2" in str(error.message)
    assert not error.retryable
    assert len(model.calls()) == 2


async def test_an_error_in_the_script_is_a_call_that_failed() -> None:
    down = UpstreamError(HumanText("Busy."))
    model = RecordedModelAdapter([down, Response("Yes.")])

    assert err(await model.complete(QUESTION, (), None), UpstreamError) is down
    assert ok(await model.complete(QUESTION, (), None)).text == "Yes."


@pytest.mark.parametrize("split", [by_words, by_characters])
@given(st.text())
def test_the_pieces_put_together_are_the_text(split: Splitter, text: str) -> None:
    assert "".join(split(text)) == text


async def test_text_is_streamed_in_the_pieces_asked_for() -> None:
    seen: list[Delta] = []
    model = RecordedModelAdapter([Response("It is 16 weeks. ")], by_words)

    await model.complete(QUESTION, (), Emitter(seen.append))

    assert [getattr(d, "text", None) for d in seen] == ["It", " is", " 16", " weeks.", " "]
