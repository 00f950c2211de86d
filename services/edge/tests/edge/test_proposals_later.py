"""What comes after a proposal in the same conversation: nothing runs by itself, and nothing is broken by it."""

import json
from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from cogni_engine import Definition, Emitter, Message, Origin, Response, Role, ToolCall
from cogni_kernel import Ok, Result

if TYPE_CHECKING:
    from tests.edge.conftest import World

BOOK = "Book a room for me."
QUESTION = "How much parental leave is there?"
FATES = ["accept", "decline", "expire", "wait"]


@pytest.fixture
def prompts(world: "World", monkeypatch: pytest.MonkeyPatch) -> list[Sequence[Message]]:
    """What the model is asked from now on; it draws figures before it books, and books only when asked to now."""
    seen: list[Sequence[Message]] = []

    async def complete(
        messages: Sequence[Message], tools: Sequence[Definition], emitter: Emitter | None
    ) -> Result[Response]:
        seen.append(messages)
        asked = next(m.text for m in messages if m.origin is Origin.QUESTION)
        told = [m for m in messages if m.role is Role.TOOL]
        if asked == BOOK and not told:
            return Ok(Response("", (ToolCall("c1", "show_figures", "{}"),), None, "scripted@1"))
        if asked == BOOK:
            room = ToolCall("c2", "book_room", json.dumps({"room": "Atrium"}))
            return Ok(Response("", (room,), None, "scripted@1"))
        assert emitter is not None
        emitter.emit_token("20 weeks of parental leave [s1].")
        return Ok(Response("", (), None, "scripted@1"))

    monkeypatch.setattr(world.model, "complete", complete)
    return seen


async def meet(world: "World", proposal: dict[str, Any], fate: str) -> str:
    """Let a proposal come to this end; return its state as the person is told it."""
    if fate == "expire":
        world.clock.advance(timedelta(hours=24))
    if fate in ("accept", "decline"):
        decided = await world.call("POST", f"/v1/proposals/{proposal['id']}/{fate}")
        return str(decided.json()["state"])
    return str(proposal["state"])


@pytest.mark.parametrize("fate", FATES)
async def test_later_messages_run_nothing_again(
    world: "World", prompts: list[Sequence[Message]], fate: str
) -> None:
    proposed = await world.ask(BOOK)
    await meet(world, proposed["proposal"], fate)
    before = list(world.booked)

    for message in (QUESTION, BOOK, QUESTION):
        await world.ask(message, conversation_id=proposed["conversation_id"])

    assert before == ["Atrium"] * (fate == "accept")
    assert world.booked == before


@pytest.mark.parametrize("fate", FATES)
async def test_a_conversation_goes_on_whatever_became_of_the_proposal(
    world: "World", prompts: list[Sequence[Message]], fate: str
) -> None:
    proposed = await world.ask(BOOK)
    await meet(world, proposed["proposal"], fate)

    after = await world.ask(QUESTION, conversation_id=proposed["conversation_id"])

    assert after["kind"] == "completed"
    assert [why_refused(prompt) for prompt in prompts] == [None] * len(prompts)


def why_refused(prompt: Sequence[Message]) -> str | None:
    """Return why a provider would not take a prompt: a call without its answer, or a message without content."""
    called = [call.id for m in prompt for call in m.tool_calls]
    answered = [m.tool_call_id for m in prompt if m.role is Role.TOOL]
    if called != answered:
        return f"calls {called}, answers {answered}"
    empty = [m.role for m in prompt if not m.text.strip() and not m.tool_calls]
    return f"nothing in {empty}" if empty else None


async def test_deciding_asks_no_model_and_repeats_nothing_that_was_done_before(
    world: "World", prompts: list[Sequence[Message]]
) -> None:
    proposed = await world.ask(BOOK)
    asked = len(prompts)
    events = await world.resume(proposed["run_ref"])

    state = await meet(world, proposed["proposal"], "accept")

    assert state == "executed"
    assert len(prompts) == asked == 2
    assert await world.resume(proposed["run_ref"]) == events
    assert [e.data["name"] for e in events if e.name == "tool_completed"] == ["show_figures"]


async def test_one_yes_is_for_one_proposal(
    world: "World", prompts: list[Sequence[Message]]
) -> None:
    first = await world.ask(BOOK)
    second = await world.ask(BOOK, conversation_id=first["conversation_id"])

    await meet(world, first["proposal"], "accept")

    assert first["proposal"]["id"] != second["proposal"]["id"]
    assert world.booked == ["Atrium"]
    declined = await meet(world, second["proposal"], "decline")
    assert (declined, world.booked) == ("declined", ["Atrium"])
