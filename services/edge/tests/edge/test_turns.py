import asyncio
from typing import TYPE_CHECKING

import pytest

from cogni_engine import HealthState
from cogni_kernel import HumanText, UpstreamError

if TYPE_CHECKING:
    from tests.edge.conftest import World

OUTCOME = {
    *("run_ref", "conversation_id", "kind", "text", "html", "citations", "markers", "proposal"),
    *("reason", "message", "usage", "generated_label", "indexed_through"),
}
ANSWER = "Everybody gets 20 weeks of parental leave [s1]."
QUESTION = {"message": "How much parental leave is there?"}
STREAM = {"Accept": "text/event-stream"}


async def test_a_question_is_answered_with_its_outcome(world: "World") -> None:
    outcome = await world.ask()

    assert set(outcome) == OUTCOME
    assert (outcome["kind"], outcome["text"]) == ("completed", ANSWER)
    [citation] = outcome["citations"]
    assert set(citation) == {"handle", "label", "locator", "document_id"}
    assert (citation["handle"], citation["label"]) == ("s1", "Parental leave")
    assert outcome["generated_label"] in outcome["html"]


async def test_a_stream_tells_the_run_first_and_its_end_last(world: "World") -> None:
    events = await world.stream()

    assert [event.id for event in events] == list(range(1, len(events) + 1))
    names = [event.name for event in events]
    assert (names[0], names[-1]) == ("run", "done")
    assert set(names[1:-1]) == {"phase", "token", "citation"}
    assert set(events[0].data) == {"run_ref", "conversation_id"}


async def test_the_tokens_of_a_stream_are_the_text_of_its_outcome(world: "World") -> None:
    events = await world.stream()
    outcome = events[-1].data["outcome"]

    assert isinstance(outcome, dict)
    assert "".join(str(e.data["text"]) for e in events if e.name == "token") == outcome["text"]
    assert set(outcome) == OUTCOME
    assert outcome["run_ref"] == events[0].data["run_ref"]


@pytest.mark.parametrize(
    ("accept", "streams"),
    [
        ("text/event-stream", True),
        ("Text/Event-Stream;q=0.9, */*", True),
        ("application/json, text/event-stream", True),
        ("application/json", False),
        ("*/*", False),
        ("", False),
        ("text/html", False),
    ],
)
async def test_the_accept_header_chooses_the_form(
    world: "World", accept: str, streams: bool
) -> None:
    answer = await world.call("POST", "/v1/turns", json=QUESTION, headers={"Accept": accept})

    assert answer.headers["content-type"].startswith("text/event-stream") is streams
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["x-content-type-options"] == "nosniff"


async def test_the_same_key_gives_the_same_run_again_in_both_forms(world: "World") -> None:
    key = {"Idempotency-Key": "k1"}
    first = await world.call("POST", "/v1/turns", json=QUESTION, headers=key)
    again = await world.call("POST", "/v1/turns", json=QUESTION, headers=key)
    streamed = await world.call("POST", "/v1/turns", json=QUESTION, headers=key | STREAM)

    assert again.content == first.content
    assert first.json()["run_ref"] in streamed.text
    assert world.model.asked == 1


async def test_the_same_key_at_once_gives_one_run(world: "World") -> None:
    key = {"Idempotency-Key": "k1"}
    asked = [world.call("POST", "/v1/turns", json=QUESTION, headers=key) for _ in range(8)]

    answers = await asyncio.gather(*asked)

    assert {answer.json()["run_ref"] for answer in answers} == {answers[0].json()["run_ref"]}
    assert world.model.asked == 1


@pytest.mark.parametrize(
    "other",
    [
        {"message": "How much parental leave is there at all?"},
        {**QUESTION, "subject_ref": {"kind": "page", "id": "7"}},
    ],
)
async def test_the_same_key_for_another_request_is_a_conflict(
    world: "World", other: dict[str, object]
) -> None:
    key = {"Idempotency-Key": "k1"}
    await world.call("POST", "/v1/turns", json=QUESTION, headers=key)

    refused = await world.call("POST", "/v1/turns", json=other, headers=key)

    assert refused.status_code == 409
    assert set(refused.json()) == {"type", "title", "status"}


async def test_a_key_is_its_persons_own(world: "World") -> None:
    key = {"Idempotency-Key": "k1"}
    mine = await world.call("POST", "/v1/turns", json=QUESTION, headers=key)
    other = {"message": "Is there parental leave?"}

    theirs = await world.call("POST", "/v1/turns", "bob", json=other, headers=key)

    assert theirs.status_code == 200
    assert theirs.json()["run_ref"] != mine.json()["run_ref"]


async def test_without_a_key_every_question_is_a_run(world: "World") -> None:
    for headers in ({}, {"Idempotency-Key": "  "}):
        refs = [await world.call("POST", "/v1/turns", json=QUESTION, headers=headers) for _ in "ab"]
        assert len({answer.json()["run_ref"] for answer in refs}) == 2


async def test_a_conversation_goes_on_and_its_handles_too(world: "World") -> None:
    first = await world.ask()
    world.model.pieces = ("As said, 20 weeks of parental leave [s1] [s2].",)

    second = await world.ask(conversation_id=first["conversation_id"])

    assert second["conversation_id"] == first["conversation_id"]
    assert [c["handle"] for c in second["citations"]] == ["s2"]
    assert "[s1]" not in second["text"]


async def test_what_is_not_found_is_refused_with_what_can_be_done(world: "World") -> None:
    outcome = await world.ask("What does tungsten boil at?")
    events = await world.stream("What does tungsten boil at?")

    assert (outcome["kind"], outcome["reason"]) == ("refused", "nothing_found")
    assert outcome["message"] == outcome["text"] != ""
    assert [e.name for e in events if e.name in ("done", "failed")] == ["done"]


async def test_a_provider_that_fails_ends_the_run_as_failed(world: "World") -> None:
    world.model.fails = UpstreamError(
        HumanText("The model is gone."), retryable=False, detail={"key": "sk-secret"}
    )
    outcome = await world.ask()
    events = await world.stream()

    assert (outcome["kind"], outcome["message"]) == ("failed", "The model is gone.")
    assert events[-1].name == "failed"
    assert "sk-secret" not in str(events) + str(outcome)


@pytest.mark.parametrize("headers", [{}, STREAM])
async def test_while_the_provider_is_down_no_run_is_opened(
    world: "World", headers: dict[str, str]
) -> None:
    world.model.state = HealthState.DOWN

    answer = await world.call("POST", "/v1/turns", json=QUESTION, headers=headers)

    assert (answer.status_code, answer.headers["retry-after"]) == (503, "7")
    assert answer.json() == {
        "type": "about:blank",
        "title": "The language model does not answer.",
        "status": 503,
    }
    assert not world.state.runs
    assert (await world.call("GET", "/v1/conversations")).status_code == 200


@pytest.mark.parametrize(
    "text",
    [
        "الإجازة عشرون أسبوعا",
        "育儿假为二十周。",
        "👩‍🔬 naïve",
        "a\r\nb\rc\n\nevent: done\ndata: {}\n\nid: 99\n\n",
        "x\u2028y\u2029z\x85",
        "data: forged\n\n: ping\n\n",
    ],
)
async def test_any_text_comes_through_a_stream_and_none_can_forge_an_event(
    world: "World", text: str
) -> None:
    world.model.pieces = [*text, " [s1]"]

    events = await world.stream()

    shown = "".join(str(e.data["text"]) for e in events if e.name == "token")
    assert [e.id for e in events] == list(range(1, len(events) + 1))
    assert [e.name for e in events].count("done") == 1
    assert shown == f"{text} [s1]"


async def test_what_is_no_text_does_not_end_a_stream(world: "World") -> None:
    world.model.pieces = ("\ud800\x00\x1b[31m leave [s1]",)

    events = await world.stream()
    outcome = await world.ask()

    assert events[-1].name == "done"
    assert outcome["kind"] == "completed"


@pytest.mark.parametrize("question", ["كم مدة إجازة parental leave؟", "parental leave 有多长？"])
async def test_a_question_in_any_script_is_taken_and_kept(world: "World", question: str) -> None:
    outcome = await world.ask(question)
    shown = await world.call("GET", f"/v1/conversations/{outcome['conversation_id']}")

    assert outcome["kind"] == "completed"
    assert shown.json()["turns"][0]["question"] == question
