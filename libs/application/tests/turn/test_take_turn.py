"""One question, one run, one terminal delta: whatever happens in between."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from cogni_application.turn import take_turn
from cogni_application.turn.run_turn import NOTHING_FOUND
from cogni_application.turn.take_turn import MAX_MESSAGE, TurnRequest
from cogni_domain.access.principal import MembershipState
from cogni_domain.access.tool_offer import ToolContext
from cogni_domain.governance.output_policy import OutputPolicy, Prohibition
from cogni_domain.governance.profiles import DEFAULT_PROFILE
from cogni_domain.knowledge.search import Passages
from cogni_engine import (
    Arguments,
    Base,
    ChartPayload,
    Definition,
    Effect,
    Emitter,
    HealthState,
    Message,
    Origin,
    Response,
    RunBounds,
    Series,
    ToolCall,
    ToolResult,
    describe,
)
from cogni_kernel import (
    ConflictError,
    ConversationId,
    Err,
    Error,
    GrantKey,
    HumanText,
    InvalidArgumentError,
    ModelFacingText,
    NotFoundError,
    NotPermittedError,
    Ok,
    PrincipalId,
    Result,
    RunRef,
    TaskClass,
    TenantId,
    UpstreamError,
)
from cogni_testing import RecordedModel, corpus_fixture, err, fake_principal, ok

if TYPE_CHECKING:
    from tests.conftest import MakeWorld, World

QUESTION = "How long is parental leave?"
EMPTY = replace(corpus_fixture({}, {}), documents=())
DOWN = UpstreamError(HumanText("The provider does not answer."))


def a_tool(name: str, effect: Effect = Effect.READ) -> Definition:
    return describe(name, does=f"Does {name}.", use_when="asked", do_not_use="otherwise")


class LookUp(Base):
    definition = a_tool("look_up")
    grant = GrantKey("look.up")
    effect = Effect.READ

    async def call(self, args: Arguments) -> ToolResult | Error:
        return ToolResult.data("Request 4471 is open.", urls=("HTTPS://Tickets.example/4471/",))


class FindNothing(Base):
    definition = a_tool("find_nothing")
    grant = GrantKey("look.up")
    effect = Effect.READ

    async def call(self, args: Arguments) -> ToolResult | Error:
        return ToolResult.empty(ModelFacingText("There is no such request."))


class Search(Base):
    context: ToolContext
    definition = a_tool("search")
    grant = GrantKey("look.up")
    effect = Effect.READ
    requires = (Passages,)

    async def call(self, args: Arguments) -> ToolResult | Error:
        found = await self.context.resource(Passages).search("parental leave exceptions")
        if isinstance(found, Err):
            return found.error
        return ToolResult.data("\n".join(p.text for p in found.value), citations=tuple(found.value))


class Chart(Base):
    definition = a_tool("chart")
    grant = GrantKey("look.up")
    effect = Effect.READ

    async def call(self, args: Arguments) -> ToolResult | Error:
        payload = ChartPayload("Headcount", ("2025",), (Series("all", (3.0,)),))
        return ToolResult.marker(await self.emit(payload), ModelFacingText("Headcount."))


class Broken(Base):
    definition = a_tool("broken")
    grant = GrantKey("look.up")
    effect = Effect.READ

    async def call(self, args: Arguments) -> ToolResult | Error:
        raise RuntimeError("a bug of the author")


class Slow(Base):
    definition = a_tool("slow")
    grant = GrantKey("look.up")
    effect = Effect.READ
    started = asyncio.Event()

    async def call(self, args: Arguments) -> ToolResult | Error:
        Slow.started.set()
        await asyncio.sleep(60)
        return ToolResult.data("late")


class Book(Base):
    definition = a_tool("book")
    grant = GrantKey("leave.book")
    effect = Effect.MUTATE

    async def call(self, args: Arguments) -> ToolResult | Error:
        return ToolResult.data("Booked.")


class Gated(RecordedModel):
    """Answers in pieces, each when a test lets it."""

    def __init__(self, pieces: Sequence[str]) -> None:
        super().__init__([])
        self.pieces = pieces
        self.gate = asyncio.Semaphore(0)
        self.asked = asyncio.Event()

    async def complete(
        self, messages: Sequence[Message], tools: Sequence[Definition], emitter: Emitter | None
    ) -> Result[Response]:
        self.asked.set()
        assert emitter is not None
        for piece in self.pieces:
            await self.gate.acquire()
            emitter.emit_token(piece)
        return Ok(Response("".join(self.pieces)))


class BrokenModel(RecordedModel):
    def __init__(self) -> None:
        super().__init__([])

    async def complete(
        self, messages: Sequence[Message], tools: Sequence[Definition], emitter: Emitter | None
    ) -> Result[Response]:
        raise RuntimeError("a bug of the adapter")

    def health(self) -> HealthState:
        return HealthState.DOWN


def call(name: str, text: str = "", number: int = 1) -> Response:
    return Response(text, (ToolCall(f"call-{number}", name, ""),))


def texts(deltas: Sequence[object]) -> str:
    return "".join(getattr(d, "text", "") for d in deltas if type(d).__name__ == "TokenDelta")


async def deltas_of(world: "World", run: RunRef) -> list[object]:
    return [numbered.delta for numbered in await world.hear(run)]


async def test_an_answer_is_streamed_with_its_sources_and_sealed_as_it_was_shown(
    make_world: "MakeWorld",
) -> None:
    world = await make_world([Response("It is twenty-six weeks [s1], not [s9].")])

    opened = await world.ask(QUESTION)
    deltas = await world.hear(opened.run_ref)

    names = [numbered.delta.name for numbered in deltas]
    assert (names[0], names[-1], names.count("done")) == ("run", "done", 1)
    assert [numbered.cursor for numbered in deltas] == list(range(1, len(deltas) + 1))
    assert names.index("citation") < names.index("done")
    sealing = world.state.runs[opened.run_ref].sealing
    assert sealing is not None
    shown = texts([n.delta for n in deltas])
    assert (
        shown == sealing.answer == sealing.outcome["text"] == "It is twenty-six weeks [s1], not ."
    )
    assert [c["handle"] for c in sealing.outcome["citations"]] == ["s1"]  # type: ignore[attr-defined]
    assert sealing.outcome["indexed_through"] == world.clock.now().isoformat()
    steps = [step["step"] for step in world.state.runs[opened.run_ref].steps]
    assert steps == ["Retrieval", "Strip", "ModelCall"]


async def test_the_deltas_of_a_run_come_in_the_order_of_what_happened(
    make_world: "MakeWorld",
) -> None:
    script = [call("look_up", "Looking at [s1]."), Response("It is open.")]
    world = await make_world(script, tools=[LookUp])

    opened = await world.ask(QUESTION)
    deltas = await deltas_of(world, opened.run_ref)

    kinds = [getattr(d, "phase", type(d).__name__) for d in deltas]
    assert [k for k in dict.fromkeys(kinds) if k != "TokenDelta"] == [
        "RunDelta",
        "retrieving",
        "composing",
        "CitationDelta",
        "calling_tool",
        "ToolCompletedDelta",
        "DoneDelta",
    ]
    assert texts(deltas) == "Looking at [s1].\n\nIt is open."
    assert kinds.index("calling_tool") > kinds.index("CitationDelta")


async def test_without_a_passage_and_without_a_tool_the_model_is_never_asked(
    make_world: "MakeWorld",
) -> None:
    world = await make_world([Response("From memory.")], corpus=EMPTY)

    outcome = await world.answer(QUESTION)

    assert (outcome["kind"], outcome["reason"]) == ("refused", "nothing_found")
    assert outcome["text"] == str(NOTHING_FOUND)
    assert isinstance(world.used, RecordedModel)
    assert world.used.calls() == ()


async def test_what_a_model_says_from_memory_is_never_shown(make_world: "MakeWorld") -> None:
    world = await make_world(
        [call("find_nothing", "Let me see. It is ten weeks."), Response("It is ten weeks.")],
        corpus=EMPTY,
        tools=[FindNothing],
    )

    opened = await world.ask(QUESTION)
    deltas = await deltas_of(world, opened.run_ref)

    assert texts(deltas) == str(NOTHING_FOUND)
    assert "ten weeks" not in repr(deltas)


async def test_text_counts_from_when_a_tool_gave_a_datum(make_world: "MakeWorld") -> None:
    script = [call("look_up", "I guess ten."), Response("It is open: https://tickets.example/4471")]
    world = await make_world(script, corpus=EMPTY, tools=[LookUp])

    outcome = await world.answer(QUESTION)

    assert outcome["kind"] == "completed"
    assert outcome["text"] == "It is open: https://tickets.example/4471"


async def test_an_answer_of_which_nothing_is_left_is_a_refusal(make_world: "MakeWorld") -> None:
    world = await make_world([Response("[s9] [[CHART:c4]]")])

    assert (await world.answer(QUESTION))["reason"] == "nothing_found"


async def test_an_answer_that_is_prohibited_is_a_refusal_that_says_where_to_turn(
    make_world: "MakeWorld",
) -> None:
    world = await make_world([Response("Leave is long. It has a guaranteed price [s1].")])
    acme, admin = TenantId("acme"), PrincipalId("admin")
    content = ok(await world.profiles.elected(acme, DEFAULT_PROFILE)).elected.content
    price = Prohibition("price", HumanText("Ask sales."), ("guaranteed price",))
    content = replace(content, output=OutputPolicy((price,)))
    drafted = ok(await world.profiles.draft(acme, DEFAULT_PROFILE, content, admin))
    ok(await world.profiles.elect(acme, DEFAULT_PROFILE, drafted.number, admin))

    opened = await world.ask(QUESTION)
    shown = texts(await deltas_of(world, opened.run_ref))

    sealing = world.state.runs[opened.run_ref].sealing
    assert sealing is not None
    assert (sealing.kind, sealing.outcome["reason"]) == ("refused", "prohibited")
    assert shown == sealing.answer == "Leave is long. It has a guaranteed \n\nAsk sales."
    assert sealing.outcome["citations"] == []
    steps = [s for s in world.state.runs[opened.run_ref].steps if s["step"] == "Strip"]
    assert steps == [{"step": "Strip", "kind": "prohibited", "text": "price"}]


async def test_an_ungrounded_profile_answers_without_a_source(make_world: "MakeWorld") -> None:
    world = await make_world([Response("Hello.")], grounded=False)

    outcome = await world.answer("Hello?")

    assert (outcome["kind"], outcome["text"]) == ("completed", "Hello.")


async def test_a_widget_stands_where_its_marker_is(make_world: "MakeWorld") -> None:
    world = await make_world(
        [call("chart"), Response("Here: [[CHART:c1]] and [[CHART:c2]].")], tools=[Chart]
    )

    opened = await world.ask(QUESTION)
    deltas = await deltas_of(world, opened.run_ref)

    outcome = deltas[-1].outcome  # type: ignore[attr-defined]
    assert outcome["text"] == "Here: [[CHART:c1]] and ."
    assert [m["marker"] for m in outcome["markers"]] == ["[[CHART:c1]]"]
    assert outcome["markers"][0]["payload"]["title"] == "Headcount"
    steps = [s for s in world.state.runs[opened.run_ref].steps if s["step"] == "Broadcast"]
    assert [s["outcome"] for s in steps] == ["Delivered"]


async def test_a_widget_that_nobody_waits_for_is_no_failure_and_is_there_later(
    make_world: "MakeWorld",
) -> None:
    world = await make_world([call("chart"), Response("Here: [[CHART:c1]].")], tools=[Chart])
    opened = await world.ask(QUESTION)
    run = world.state.runs[opened.run_ref]
    while run.sealing is None:
        await asyncio.sleep(0.005)

    deltas = await deltas_of(world, opened.run_ref)

    assert [s["outcome"] for s in run.steps if s["step"] == "Broadcast"] == ["NoListener"]
    assert "marker" in [delta.name for delta in deltas]  # type: ignore[attr-defined]
    assert [m["marker"] for m in deltas[-1].outcome["markers"]] == ["[[CHART:c1]]"]  # type: ignore[attr-defined]


async def test_a_change_is_proposed_and_its_proposal_is_there_when_it_is_shown(
    make_world: "MakeWorld",
) -> None:
    world = await make_world([call("book", "I can book that.")], tools=[Book])
    opened = await world.ask(QUESTION)

    ((delta, rows),) = [
        (numbered.delta, list(world.state.proposals.values()))
        async for numbered in world.streams.follow(opened.run_ref, 0)
        if numbered.delta.name == "proposal"
    ]

    assert [str(row.proposal.id) for row in rows] == [getattr(delta, "id", None)]
    assert rows[0].proposal.proposed_to == world.alice.id
    assert [e.__class__.__name__ for e in world.state.events.values()] == [
        "ConversationStarted",
        "MutationProposed",
    ]
    assert [row.job.kind for row in world.state.jobs.values()] == ["proposal.expire"]


async def test_a_surface_without_confirmation_offers_no_change(make_world: "MakeWorld") -> None:
    world = await make_world([Response("No.")], tools=[Book, LookUp])

    opened = await world.ask(QUESTION, effects=frozenset({Effect.READ}))
    machine = fake_principal(["leave.book", "look.up"], id="robot", machine=True)
    other = await world.ask(QUESTION, machine)

    for run in (opened, other):
        offered = world.state.runs[run.run_ref].opening.offered.names()
        assert offered == {"look_up"}


async def test_a_broken_tool_is_answered_and_recorded_and_the_run_goes_on(
    make_world: "MakeWorld",
) -> None:
    world = await make_world([call("broken"), Response("It did not work [s1].")], tools=[Broken])

    opened = await world.ask(QUESTION)
    outcome = (await deltas_of(world, opened.run_ref))[-1].outcome  # type: ignore[attr-defined]

    assert outcome["kind"] == "completed"
    assert "ToolFailed" in [e.__class__.__name__ for e in world.state.events.values()]


async def test_a_bug_of_a_model_ends_the_run_as_failed_with_its_reference_which_the_log_knows(
    make_world: "MakeWorld", caplog: pytest.LogCaptureFixture
) -> None:
    world = await make_world(model=BrokenModel())

    outcome = await world.answer(QUESTION)

    assert (outcome["kind"], outcome["reason"]) == ("failed", "Upstream")
    assert "RuntimeError" not in repr(outcome)
    assert str(outcome["run_ref"]) in str(outcome["message"])
    [logged] = [r.getMessage() for r in caplog.records if "RuntimeError" in r.getMessage()]
    assert str(outcome["run_ref"]) in logged


async def test_a_bug_of_ours_ends_the_run_as_failed_with_its_reference(
    make_world: "MakeWorld", monkeypatch: pytest.MonkeyPatch
) -> None:
    world = await make_world([Response("never")])

    async def broken(_: object) -> None:
        raise KeyError("a bug")

    monkeypatch.setattr(type(world.retrieval), "retrieve", lambda *_: broken(None))
    opened = await world.ask(QUESTION)
    last = (await deltas_of(world, opened.run_ref))[-1]

    assert type(last).__name__ == "FailedDelta"
    assert str(opened.run_ref) in last.outcome["message"]  # type: ignore[attr-defined]


async def test_a_search_that_does_not_answer_ends_the_run_as_failed(
    make_world: "MakeWorld", monkeypatch: pytest.MonkeyPatch
) -> None:
    world = await make_world([Response("never")])

    async def down(_: object) -> object:
        return Err(DOWN)

    monkeypatch.setattr(world.embedder, "embed", down)
    outcome = await world.answer(QUESTION)

    assert (outcome["kind"], outcome["message"]) == ("failed", str(DOWN.message))
    assert isinstance(world.used, RecordedModel)
    assert world.used.calls() == ()


class Unspeakable(ChartPayload):
    def to_payload(self) -> dict[str, object]:
        raise RuntimeError("a bug of the author")


class Mumble(Chart):
    definition = a_tool("mumble")

    async def call(self, args: Arguments) -> ToolResult | Error:
        marker = await self.emit(Unspeakable("x", (), ()))
        return ToolResult.marker(marker, ModelFacingText("A chart."))


class Bungle(Book):
    definition = a_tool("bungle")

    async def preview(self, args: Arguments) -> Unspeakable:
        return Unspeakable("x", (), ())


async def test_a_widget_that_cannot_be_put_into_words_is_not_shown(
    make_world: "MakeWorld",
) -> None:
    world = await make_world([call("mumble"), Response("Here [s1]: [[CHART:c1]]")], tools=[Mumble])

    outcome = await world.answer(QUESTION)

    assert (outcome["kind"], outcome["text"]) == ("completed", "Here [s1]: ")
    assert outcome["markers"] == []


async def test_a_proposal_that_cannot_be_put_into_words_is_a_failure_and_no_proposal(
    make_world: "MakeWorld",
) -> None:
    world = await make_world([call("bungle", "I can [s1].")], tools=[Bungle])

    outcome = await world.answer(QUESTION)

    assert (outcome["kind"], outcome["text"], outcome["proposal"]) == (
        "failed",
        "I can [s1].",
        None,
    )
    assert world.state.proposals == {}


async def test_what_a_sealed_run_shows_is_pinned_and_where_that_fails_it_is_sealed_all_the_same(
    make_world: "MakeWorld", monkeypatch: pytest.MonkeyPatch
) -> None:
    pinned = []
    for fails in (False, True):
        world = await make_world([call("chart"), Response("[[CHART:c1]]")], tools=[Chart])

        async def pin(_: object, markers: object, fails: bool = fails) -> None:
            if fails:
                raise OSError("the database does not answer")
            pinned.append(markers)

        monkeypatch.setattr(world.references, "pin", pin)
        assert (await world.answer(QUESTION))["kind"] == "completed"
        await world.turns.drain()

    assert [str(marker) for marker in pinned[0]] == ["[[CHART:c1]]"]  # type: ignore[attr-defined]


async def test_a_question_without_a_word_finds_nothing_and_fails_nothing(
    make_world: "MakeWorld", monkeypatch: pytest.MonkeyPatch
) -> None:
    world = await make_world()
    monkeypatch.setattr("cogni_application.retrieval.retrieve.is_blank", lambda _: True)

    assert (await world.answer("???"))["reason"] == "nothing_found"


async def test_a_provider_that_is_down_is_a_refusal_that_says_so(make_world: "MakeWorld") -> None:
    world = await make_world([replace(DOWN, retryable=True)] * 9)
    world.turns._shared = replace(world.turns._shared, clock=world.clock)

    outcome = await world.answer(QUESTION)

    assert (outcome["kind"], outcome["reason"]) == ("refused", "provider_down")
    assert outcome["text"] == outcome["message"]


async def test_a_stopped_run_ends_halted_with_what_it_had(make_world: "MakeWorld") -> None:
    model = Gated(["Twenty-six weeks [s1] ", "never"])
    world = await make_world(model=model)
    opened = await world.ask(QUESTION)
    await model.asked.wait()
    model.gate.release()

    async for numbered in world.streams.follow(opened.run_ref, 0):
        if numbered.delta.name == "token":
            world.turns.cancel(opened.run_ref)
    deltas = await deltas_of(world, opened.run_ref)

    outcome = deltas[-1].outcome  # type: ignore[attr-defined]
    assert (outcome["kind"], outcome["reason"]) == ("halted", "stopped")
    assert outcome["text"] == texts(deltas) == "Twenty-six weeks [s1] "


async def test_a_run_is_stopped_in_the_middle_of_a_tool_and_stopping_twice_changes_nothing(
    make_world: "MakeWorld",
) -> None:
    Slow.started = asyncio.Event()
    world = await make_world([call("slow", "Wait [s1].")], tools=[Slow])
    opened = await world.ask(QUESTION)
    await Slow.started.wait()

    for _ in range(3):
        ok(await world.service.stop(opened.run_ref, world.alice))
    deltas = await deltas_of(world, opened.run_ref)

    assert deltas[-1].outcome["kind"] == "halted"  # type: ignore[attr-defined]
    assert texts(deltas) == "Wait [s1]."
    ok(await world.service.stop(opened.run_ref, world.alice))
    assert len(await world.hear(opened.run_ref)) == len(deltas)


@pytest.mark.parametrize("turns_of_the_loop", range(0, 40, 2))
async def test_a_stop_that_races_the_answer_leaves_one_end_and_what_was_shown(
    make_world: "MakeWorld", turns_of_the_loop: int
) -> None:
    world = await make_world([Response("It is twenty-six weeks [s1].")])
    opened = await world.ask(QUESTION)
    for _ in range(turns_of_the_loop):
        await asyncio.sleep(0)

    ok(await world.service.stop(opened.run_ref, world.alice))
    deltas = await deltas_of(world, opened.run_ref)

    ends = [delta for delta in deltas if delta.name in ("done", "failed")]  # type: ignore[attr-defined]
    assert ends == deltas[-1:]
    outcome = ends[0].outcome  # type: ignore[attr-defined]
    assert outcome["kind"] in ("completed", "halted")
    assert outcome["text"] == texts(deltas)
    sealing = world.state.runs[opened.run_ref].sealing
    assert sealing is not None
    assert sealing.answer == outcome["text"]


async def test_a_stop_asked_for_in_another_process_reaches_the_owner(
    make_world: "MakeWorld",
) -> None:
    model = Gated(["never"])
    world = await make_world(model=model)
    elsewhere = await make_world(beside=world)
    opened = await world.ask(QUESTION)
    await model.asked.wait()

    ok(await elsewhere.service.stop(opened.run_ref, world.alice))
    deltas = await deltas_of(elsewhere, opened.run_ref)

    assert deltas[-1].outcome["reason"] == "stopped"  # type: ignore[attr-defined]


@pytest.mark.parametrize("where", ["model", "retrieval"])
async def test_the_wall_clock_ends_whatever_is_under_way(
    make_world: "MakeWorld", monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    bounds = RunBounds(max_wall_clock=timedelta(seconds=0.2))
    world = await make_world(model=Gated(["never"]), bounds=bounds)
    if where == "retrieval":
        monkeypatch.setattr(type(world.retrieval), "retrieve", lambda *_: asyncio.sleep(60))

    outcome = await asyncio.wait_for(world.answer(QUESTION), 60)

    assert (outcome["kind"], outcome["reason"]) == ("halted", "deadline")


async def test_a_deadline_that_has_passed_ends_the_run_before_the_model_is_asked(
    make_world: "MakeWorld",
) -> None:
    world = await make_world([Response("late")])

    outcome = await world.answer(QUESTION, deadline=world.clock.now() - timedelta(seconds=1))

    assert outcome["reason"] == "deadline"
    assert isinstance(world.used, RecordedModel)
    assert world.used.calls() == ()


async def test_a_reader_that_goes_away_stops_nothing(make_world: "MakeWorld") -> None:
    model = Gated(["Twenty-six ", "weeks [s1]."])
    world = await make_world(model=model)
    opened = await world.ask(QUESTION)
    model.gate.release()

    async for numbered in world.streams.follow(opened.run_ref, 0):
        if numbered.delta.name == "token":
            break
    model.gate.release()
    deltas = await deltas_of(world, opened.run_ref)

    assert texts(deltas) == "Twenty-six weeks [s1]."


async def test_who_goes_away_while_the_run_is_opened_leaves_one_that_ends(
    make_world: "MakeWorld",
) -> None:
    world = await make_world([Response("Twenty-six weeks [s1].")])
    entered, go_on = asyncio.Event(), asyncio.Event()
    opening = world.log.open

    async def slow(*args: object) -> object:
        opened = await opening(*args)  # type: ignore[arg-type]
        entered.set()
        await go_on.wait()
        return opened

    world.log.open = slow  # type: ignore[method-assign, assignment]
    asking = asyncio.create_task(world.turns.start(TurnRequest(QUESTION), world.alice))
    await entered.wait()
    asking.cancel()
    go_on.set()
    await asyncio.wait([asking])

    (run,) = world.state.runs
    assert (await deltas_of(world, run))[-1].outcome["kind"] == "completed"  # type: ignore[attr-defined]


async def test_the_same_key_is_the_same_run_and_another_body_is_a_conflict(
    make_world: "MakeWorld",
) -> None:
    world = await make_world([Response("Twenty-six weeks [s1].")])

    first = await world.ask(QUESTION, idempotency_key="k")
    again = await world.ask(QUESTION, idempotency_key="k")
    other = await world.turns.start(TurnRequest("Else?", idempotency_key="k"), world.alice)
    somebody = fake_principal(id="bob")
    theirs = await world.ask(QUESTION, somebody, idempotency_key="k")

    assert (first.run_ref, again.existed) == (again.run_ref, True)
    err(other, ConflictError)
    assert theirs.run_ref != first.run_ref
    for run in (first, theirs):
        await world.hear(run.run_ref)
    assert isinstance(world.used, RecordedModel)
    assert len(world.used.calls()) == 2


def test_a_request_has_another_digest_when_anything_of_it_differs() -> None:
    requests = [
        TurnRequest("a"),
        TurnRequest("a\0None\0chat"),
        TurnRequest("a", ConversationId("None")),
        TurnRequest("a", surface_id="b"),
        TurnRequest("a", subject_ref=("ticket", "4471")),
        TurnRequest("a", subject_ref=("ticket4471", "")),
        TurnRequest("\ud800"),
        TurnRequest("\udfff"),
    ]

    assert len({request.digest for request in requests}) == len(requests)
    assert TurnRequest("a").digest == TurnRequest("a", idempotency_key="k").digest


@pytest.mark.parametrize(
    "message", ["", " \n\t", "\u200b\u2060\ufeff", "\u3164", "x" * (MAX_MESSAGE + 1)]
)
async def test_a_message_that_says_nothing_or_too_much_opens_no_run(
    make_world: "MakeWorld", message: str
) -> None:
    world = await make_world()

    wrong = err(await world.turns.start(TurnRequest(message), world.alice), InvalidArgumentError)

    assert wrong.detail["field"] == "message"
    assert world.state.runs == {}


async def test_hidden_text_and_half_characters_of_a_message_are_neutralised(
    make_world: "MakeWorld",
) -> None:
    world = await make_world([Response("Twenty-six weeks [s1].")])

    opened = await world.ask("How long is parental\u200b leave\U000e0041\ud800?")

    assert world.state.runs[opened.run_ref].opening.question == "How long is parental leave\ufffd?"


async def test_nobody_without_a_scope_or_an_assistant_opens_a_run(make_world: "MakeWorld") -> None:
    world = await make_world()
    nobody = [
        fake_principal(tenant=None),
        fake_principal(state=MembershipState.UNKNOWN),
    ]

    for principal in nobody:
        err(await world.turns.start(TurnRequest(QUESTION), principal), NotPermittedError)
    elsewhere = fake_principal(tenant="globex")
    err(await world.turns.start(TurnRequest(QUESTION), elsewhere), NotFoundError)


async def test_a_conversation_that_is_anothers_is_as_absent_as_one_that_never_was(
    make_world: "MakeWorld",
) -> None:
    world = await make_world([Response("Twenty-six weeks [s1].")])
    opened = await world.ask(QUESTION)
    await world.hear(opened.run_ref)

    bob = fake_principal(id="bob")
    theirs = TurnRequest(QUESTION, ConversationId(opened.conversation_id))
    never = TurnRequest(QUESTION, ConversationId("never"))

    assert await world.turns.start(theirs, bob) == await world.turns.start(never, bob)
    err(await world.turns.start(theirs, bob), NotFoundError)
    assert len(world.state.runs) == 1


async def test_a_conversation_goes_on_with_its_history_and_its_numbers(
    make_world: "MakeWorld",
) -> None:
    script = [Response("Twenty-six weeks [s1]."), Response("As said [s1], [s3].")]
    world = await make_world(script)
    first = await world.ask(QUESTION)
    await world.hear(first.run_ref)

    second = await world.ask(
        "And who decides on leave?", conversation_id=ConversationId(first.conversation_id)
    )
    outcome = (await deltas_of(world, second.run_ref))[-1].outcome  # type: ignore[attr-defined]

    assert outcome["text"] == "As said , [s3]."
    assert isinstance(world.used, RecordedModel)
    sent = world.used.calls()[1].messages
    history = [m.text for m in sent if m.origin is Origin.HISTORY]
    assert history == [QUESTION, "Twenty-six weeks [s1]."]
    err(await world.transcripts.citation(second.run_ref, "s1"), NotFoundError)
    assert ok(await world.transcripts.citation(first.run_ref, "s1")).label == "Parental leave"


async def test_an_answer_also_comes_from_what_the_turns_before_it_came_from(
    make_world: "MakeWorld",
) -> None:
    script = [Response("By the people team [s1] [s2] [s3]."), Response("Yes [s4].")]
    world = await make_world(script)
    hr = fake_principal(groups=["wiki/hr"])
    first = await world.ask("Who decides exceptions to parental leave?", hr)
    await world.hear(first.run_ref)
    secret = world.corpus.document("Exceptions").id
    assert secret in world.state.runs[first.run_ref].sealing.lineage  # type: ignore[union-attr]

    second = await world.ask(
        "Weeks of parental leave?", hr, conversation_id=ConversationId(first.conversation_id)
    )
    await world.hear(second.run_ref)

    assert secret in world.state.runs[second.run_ref].sealing.lineage  # type: ignore[union-attr]


async def test_a_turn_that_may_not_be_read_any_more_is_withheld_from_the_prompt(
    make_world: "MakeWorld",
) -> None:
    script = [Response("By the people team [s1] [s2] [s3]."), Response("Twenty-six weeks [s4].")]
    world = await make_world(script)
    hr = fake_principal(groups=["wiki/hr"])
    first = await world.ask("Who decides exceptions to parental leave?", hr)
    await world.hear(first.run_ref)

    second = await world.ask(
        QUESTION, world.alice, conversation_id=ConversationId(first.conversation_id)
    )
    await world.hear(second.run_ref)

    assert isinstance(world.used, RecordedModel)
    sent = "\n".join(m.text for m in world.used.calls()[1].messages)
    assert "people team" not in sent.replace("Ask the people team about leave.", "")
    assert "Who decides exceptions" not in sent
    assert "can no longer open" in sent
    secret = world.corpus.document("Exceptions").id
    assert secret not in world.state.runs[second.run_ref].sealing.lineage  # type: ignore[union-attr]


async def test_two_turns_at_once_never_give_one_number_to_two_passages(
    make_world: "MakeWorld",
) -> None:
    models = [Gated(["a [s1] [s2] [s3] [s4] [s5] [s6] [s7]"]) for _ in range(2)]
    world = await make_world([Response("Hello.")], tools=[Search])
    sides = [await make_world(beside=world, model=model) for model in models]
    hr = fake_principal(["look.up"], groups=["wiki/hr"])
    begun = await world.ask("Hello?", hr)
    await world.hear(begun.run_ref)
    chat = ConversationId(begun.conversation_id)

    runs = [
        await side.ask(question, hr, conversation_id=chat)
        for side, question in zip(sides, (QUESTION, "Exceptions to parental leave?"), strict=True)
    ]
    for model in models:
        model.gate.release()
    for run in runs:
        await world.hear(run.run_ref)

    issued = [set(world.state.runs[run.run_ref].citations) for run in runs]
    assert all(issued)
    assert not issued[0] & issued[1]
    for run, handles in zip(runs, issued, strict=True):
        sealing = world.state.runs[run.run_ref].sealing
        assert sealing is not None
        cited = sealing.outcome["citations"]
        assert {c["handle"] for c in cited} == handles  # type: ignore[attr-defined]


async def test_a_tool_that_searches_cites_within_the_same_run(make_world: "MakeWorld") -> None:
    script = [call("search"), Response("Twenty-six weeks [s1]; exceptions [s3].")]
    world = await make_world(script, tools=[Search])
    hr = fake_principal(["look.up"], groups=["wiki/hr"])

    outcome = await world.answer("How many weeks?", hr)

    assert outcome["kind"] == "completed"
    assert [c["handle"] for c in outcome["citations"]] == ["s1", "s3"]


async def test_usage_is_that_of_every_model_call(make_world: "MakeWorld") -> None:
    counted = {"input_tokens": 100, "output_tokens": 7}
    script = [
        replace(call("look_up"), raw_usage=counted),
        Response("Open [s1].", raw_usage=counted),
    ]
    world = await make_world(script, tools=[LookUp])

    opened = await world.ask(QUESTION)
    outcome = (await deltas_of(world, opened.run_ref))[-1].outcome  # type: ignore[attr-defined]

    sealing = world.state.runs[opened.run_ref].sealing
    assert sealing is not None
    assert (sealing.usage.total, sealing.usage.calls) == (214, 2)
    assert sealing.usage.task_class is TaskClass.CONVERSATIONAL
    assert outcome["usage"] == {
        "input": 200,
        "output": 14,
        "total": 214,
        "calls": 2,
        "absent": False,
    }


async def test_draining_seals_every_run(make_world: "MakeWorld") -> None:
    models = Gated(["never"])
    world = await make_world(model=models)
    runs = [await world.ask(QUESTION) for _ in range(3)]

    await world.turns.drain()

    for run in runs:
        assert (await deltas_of(world, run.run_ref))[-1].outcome["kind"] == "halted"  # type: ignore[attr-defined]


async def test_a_machine_keeps_the_conversations_of_its_persons_apart(
    make_world: "MakeWorld",
) -> None:
    world = await make_world([Response("Twenty-six weeks [s1].")] * 2)
    alice, bob = fake_principal(), fake_principal(id="bob")
    for_alice = fake_principal(id="robot", on_behalf_of=alice)
    for_bob = fake_principal(id="robot", on_behalf_of=bob)

    opened = await world.ask(QUESTION, for_alice)
    await world.hear(opened.run_ref)

    assert len(ok(await world.service.conversations(for_alice))) == 1
    assert ok(await world.service.conversations(for_bob)) == []
    err(await world.service.follow(opened.run_ref, for_bob, 0), NotFoundError)
    err(await world.service.follow(opened.run_ref, alice, 0), NotFoundError)


def test_a_lease_outlives_several_rounds_of_renewal() -> None:
    assert timedelta(seconds=take_turn.STOP_POLL_S) * 10 < take_turn.LEASE
