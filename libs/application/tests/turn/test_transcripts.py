"""Runs and conversations belong to who asked, and show what may still be read."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from cogni_application.turn import source_watch
from cogni_application.turn.transcripts import NO_SUCH
from cogni_domain.access.principal import Principal
from cogni_domain.access.rule import AccessRule
from cogni_domain.conversations import WITHHELD
from cogni_domain.lineage import LineagePolicy
from cogni_domain.ports.run_log import NumberedDelta, Opened
from cogni_engine import Definition, Emitter, Message, Response
from cogni_kernel import (
    ConversationId,
    Err,
    HumanText,
    InvalidArgumentError,
    NotFoundError,
    Ok,
    Result,
    RunRef,
    TenantId,
    UpstreamError,
)
from cogni_testing import RecordedModel, err, fake_principal, ok

if TYPE_CHECKING:
    from tests.conftest import MakeWorld, World

ACME = TenantId("acme")
HR = fake_principal(groups=["wiki/hr"])
QUESTION = "Who decides on exceptions to parental leave?"
ANSWER = "The people team decides [s1]; it is twenty-six weeks [s2]."
OTHERS = [
    fake_principal(id="bob"),
    fake_principal(id="alice", tenant="globex"),
    fake_principal(id="robot", on_behalf_of=fake_principal()),
    fake_principal(tenant=None),
]


class Gated(RecordedModel):
    """Answers in pieces, each when a test lets it."""

    def __init__(self, pieces: Sequence[str]) -> None:
        super().__init__([])
        self.pieces = pieces
        self.gate = asyncio.Semaphore(0)

    async def complete(
        self, messages: Sequence[Message], tools: Sequence[Definition], emitter: Emitter | None
    ) -> Result[Response]:
        assert emitter is not None
        for piece in self.pieces:
            await self.gate.acquire()
            emitter.emit_token(piece)
        return Ok(Response("".join(self.pieces)))


async def heard(stream: Result[AsyncIterator[NumberedDelta]]) -> list[NumberedDelta]:
    async with asyncio.timeout(60):
        return [numbered async for numbered in ok(stream)]


async def answered(make_world: "MakeWorld", **more: Any) -> tuple["World", Opened]:
    world = await make_world([Response(ANSWER)], **more)
    opened = await world.ask(QUESTION, HR)
    await world.hear(opened.run_ref)
    return world, opened


async def revoke(world: "World") -> None:
    """Take the restricted page from everybody."""
    page = world.corpus.document("Exceptions").id
    ok(await world.documents.change_rule(ACME, page, AccessRule.any_of(), ()))


@pytest.mark.parametrize("other", OTHERS, ids=["bob", "other tenant", "delegate", "no tenant"])
async def test_to_anybody_else_a_run_is_as_absent_as_one_that_never_was(
    make_world: "MakeWorld", other: Principal
) -> None:
    world, opened = await answered(make_world)
    conversation = ConversationId(opened.conversation_id)
    never = RunRef("never")

    for run in (opened.run_ref, never):
        assert await world.service.follow(run, other, 0) == Err(NotFoundError(NO_SUCH))
        assert await world.service.stop(run, other) == Err(NotFoundError(NO_SUCH))
        assert await world.service.source(run, "s1", other) == Err(NotFoundError(NO_SUCH))
    theirs = await world.service.conversation(conversation, other)
    assert theirs == await world.service.conversation(ConversationId("never"), other)
    assert isinstance(theirs, Err)


async def test_a_run_is_replayed_from_any_cursor(make_world: "MakeWorld") -> None:
    world, opened = await answered(make_world)
    whole = await heard(await world.service.follow(opened.run_ref, HR, 0))

    for after in range(len(whole) + 1):
        rest = await heard(await world.service.follow(opened.run_ref, HR, after))
        assert rest == whole[after:]
    beyond = await world.service.follow(opened.run_ref, HR, len(whole) + 1)
    err(beyond, InvalidArgumentError)


async def test_a_source_opens_only_in_the_run_that_issued_it(make_world: "MakeWorld") -> None:
    world = await make_world([Response(ANSWER)] * 2)
    first = await world.ask(QUESTION, HR)
    await world.hear(first.run_ref)
    second = await world.ask(QUESTION, HR, conversation_id=ConversationId(first.conversation_id))
    await world.hear(second.run_ref)
    issued = [set(world.state.runs[o.run_ref].citations) for o in (first, second)]

    for opened, mine, theirs in (
        (first, issued[0], issued[1]),
        (second, issued[1], issued[0]),
    ):
        for handle in mine:
            ok(await world.service.source(opened.run_ref, handle, HR))
        for handle in (*theirs, "s0", "s99", "S1", "", "s1 "):
            missing = await world.service.source(opened.run_ref, handle, HR)
            assert missing == Err(NotFoundError(NO_SUCH))


async def test_a_source_opens_with_its_passage_and_place(make_world: "MakeWorld") -> None:
    world, opened = await answered(make_world)
    issued = world.state.runs[opened.run_ref].citations

    for handle, citation in issued.items():
        source = ok(await world.service.source(opened.run_ref, handle, HR))
        assert source.citation == citation
        assert source.chunk.id == citation.chunk_id
        assert source.chunk.place == citation.locator


async def test_a_source_that_may_not_be_read_any_more_does_not_open(
    make_world: "MakeWorld",
) -> None:
    world, opened = await answered(make_world)
    secret = world.corpus.document("Exceptions")
    issued = world.state.runs[opened.run_ref].citations
    (handle,) = [h for h, c in issued.items() if c.document_id == secret.id]

    await revoke(world)

    missing = await world.service.source(opened.run_ref, handle, HR)
    assert missing == Err(NotFoundError(NO_SUCH))


async def test_a_source_of_a_document_that_was_edited_or_deleted_does_not_open(
    make_world: "MakeWorld",
) -> None:
    world, opened = await answered(make_world)
    issued = world.state.runs[opened.run_ref].citations

    for document in world.corpus.documents:
        ok(await world.documents.delete(ACME, [document.id], ()))

    for handle in issued:
        missing = await world.service.source(opened.run_ref, handle, HR)
        assert missing == Err(NotFoundError(NO_SUCH))


async def test_a_run_of_which_a_source_was_revoked_is_told_without_its_content(
    make_world: "MakeWorld",
) -> None:
    world, opened = await answered(make_world)
    whole = await heard(await world.service.follow(opened.run_ref, HR, 0))
    last = whole[-1].cursor

    await revoke(world)

    told = await heard(await world.service.follow(opened.run_ref, HR, 0))
    assert [(n.cursor, n.delta.name) for n in told] == [(1, "run"), (last, "done")]
    outcome: Any = told[-1].delta.outcome  # type: ignore[union-attr]
    assert (outcome["kind"], outcome["text"], outcome["reason"]) == (
        "completed",
        WITHHELD,
        "withheld",
    )
    assert outcome["citations"] == outcome["markers"] == []
    assert set(outcome) == set(whole[-1].delta.outcome)  # type: ignore[union-attr]
    assert "people team" not in repr(told)
    for after in range(1, last):
        rest = await heard(await world.service.follow(opened.run_ref, HR, after))
        assert rest == told[1:]


async def test_a_run_that_goes_on_is_withheld_from_who_lost_a_source_of_it(
    make_world: "MakeWorld",
) -> None:
    model = Gated(["The people team ", "decides [s1]."])
    world = await make_world(model=model)
    opened = await world.ask(QUESTION, HR)
    model.gate.release()
    before = await heard_until_token(ok(await world.service.follow(opened.run_ref, HR, 0)))
    assert "people team" in repr(before)

    await revoke(world)
    again = asyncio.create_task(heard(await world.service.follow(opened.run_ref, HR, 0)))
    later = asyncio.create_task(
        heard(await world.service.follow(opened.run_ref, HR, before[-1].cursor))
    )
    await asyncio.sleep(0.01)
    model.gate.release()

    told, rest = await again, await later
    assert [n.delta.name for n in told] == ["run", "done"]
    assert rest == told[1:]
    assert rest[-1].cursor > before[-1].cursor + 1
    assert "people team" not in repr(told)


async def test_a_stream_that_is_open_already_says_nothing_more_once_a_source_is_lost(
    make_world: "MakeWorld", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source_watch, "RECHECK_S", 0.0)
    model = Gated(["The people ", "team decides [s1]."])
    world = await make_world(model=model)
    opened = await world.ask(QUESTION, HR)
    stream = ok(await world.service.follow(opened.run_ref, HR, 0))
    model.gate.release()
    before = await heard_until_token(stream)
    assert "The people" in repr(before)

    await revoke(world)
    model.gate.release()

    rest = [numbered async for numbered in stream]
    assert [numbered.delta.name for numbered in rest] == ["done"]
    assert rest[0].delta.outcome["text"] == WITHHELD  # type: ignore[union-attr]
    assert "team" not in repr(rest)


async def test_an_open_stream_waits_for_a_database_that_cannot_say_who_may_read(
    make_world: "MakeWorld", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source_watch, "RECHECK_S", 0.0)
    monkeypatch.setattr(source_watch, "RETRY_S", 0.001)
    asked = 0

    async def failing_at_first(*_: object) -> Result[bool]:
        nonlocal asked
        asked += 1
        return Err(UpstreamError(HumanText("Down."))) if asked % 3 else Ok(value=True)

    world, opened = await answered(make_world)
    whole = await heard(await world.service.follow(opened.run_ref, HR, 0))
    stream = ok(await world.service.follow(opened.run_ref, HR, 0))
    monkeypatch.setattr(LineagePolicy, "may_read_all", failing_at_first)

    assert [numbered async for numbered in stream] == whole
    assert asked == 3 * len(whole)


async def test_of_a_run_that_goes_on_the_sources_of_the_turns_before_count_too(
    make_world: "MakeWorld",
) -> None:
    model = Gated(["It is the ", "people team."])
    world = await make_world(model=model, grounded=False)
    first = await make_world([Response(ANSWER)], beside=world)
    asked = await first.ask(QUESTION, HR)
    await first.hear(asked.run_ref)
    chat = ConversationId(asked.conversation_id)
    opened = await world.ask("Who was it again?", HR, conversation_id=chat)
    model.gate.release()
    assert await heard_until_token(ok(await world.service.follow(opened.run_ref, HR, 0)))
    assert not world.state.runs[opened.run_ref].citations

    await revoke(world)
    again = asyncio.create_task(heard(await world.service.follow(opened.run_ref, HR, 0)))
    await asyncio.sleep(0.01)
    model.gate.release()

    assert [n.delta.name for n in await again] == ["run", "done"]


async def heard_until_token(stream: AsyncIterator[NumberedDelta]) -> list[NumberedDelta]:
    found: list[NumberedDelta] = []
    async for numbered in stream:
        found.append(numbered)
        if numbered.delta.name == "token":
            break
    return found


async def test_a_failed_run_stays_failed_when_it_is_withheld(make_world: "MakeWorld") -> None:
    world = await make_world([UpstreamError(HumanText("It broke."), retryable=False)])
    opened = await world.ask(QUESTION, HR)
    assert (await world.hear(opened.run_ref))[-1].delta.name == "failed"

    await revoke(world)
    told = await heard(await world.service.follow(opened.run_ref, HR, 0))

    assert told[-1].delta.name == "failed"
    assert told[-1].delta.outcome["kind"] == "failed"  # type: ignore[union-attr]


async def test_a_reopened_conversation_withholds_the_turns_that_may_not_be_read(
    make_world: "MakeWorld",
) -> None:
    world = await make_world([Response(ANSWER), Response("It is twenty-six weeks [s4].")])
    first = await world.ask(QUESTION, HR)
    await world.hear(first.run_ref)
    chat = ConversationId(first.conversation_id)
    second = await world.ask("Weeks of parental leave?", fake_principal(), conversation_id=chat)
    await world.hear(second.run_ref)

    whole = ok(await world.service.conversation(chat, HR))
    part = ok(await world.service.conversation(chat, fake_principal()))

    assert [turn.answer for turn in whole[1]] == [ANSWER, "It is twenty-six weeks [s4]."]
    assert [(t.question, t.answer) for t in part[1]] == [
        ("", WITHHELD),
        ("Weeks of parental leave?", "It is twenty-six weeks [s4]."),
    ]
    assert [t.run_ref for t in part[1]] == [first.run_ref, second.run_ref]


async def test_own_conversations_are_listed_newest_first(make_world: "MakeWorld") -> None:
    world = await make_world([Response("Twenty-six weeks [s1].")] * 3)
    asked = []
    for n in range(3):
        world.clock.advance(timedelta(minutes=1))
        opened = await world.ask(f"Parental leave, part {n}?")
        await world.hear(opened.run_ref)
        asked.append(opened.conversation_id)

    listed = ok(await world.service.conversations(world.alice))

    assert [str(c.id) for c in listed] == asked[::-1]
    assert ok(await world.service.conversations(fake_principal(id="bob"))) == []


ASKED = {
    "follow": ("status", "candidates", "corpora", "readable"),
    "stop": ("status", "request_stop"),
    "source": ("status", "citation", "candidates", "corpora", "current", "get"),
    "conversation": ("conversation", "candidates", "corpora", "readable"),
    "conversations": ("conversations", "candidates", "corpora"),
}


@pytest.mark.parametrize(("asked", "name"), [(a, n) for a, names in ASKED.items() for n in names])
async def test_a_database_that_does_not_answer_is_a_fault_and_not_an_absence(
    make_world: "MakeWorld", asked: str, name: str
) -> None:
    world, opened = await answered(make_world)
    world.is_down = lambda called: called == name
    service, run = world.service, opened.run_ref
    call: Callable[[], Awaitable[Any]] = {
        "follow": lambda: service.follow(run, HR, 0),
        "stop": lambda: service.stop(run, HR),
        "source": lambda: service.source(run, "s1", HR),
        "conversation": lambda: service.conversation(ConversationId(opened.conversation_id), HR),
        "conversations": lambda: service.conversations(HR),
    }[asked]

    err(await call(), UpstreamError)
