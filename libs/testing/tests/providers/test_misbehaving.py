"""What the double does wrong, byte by byte, in every format."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx2
import pytest

from cogni_testing.providers import (
    COMMENT,
    INVALID_UTF8,
    NOT_A_NUMBER,
    NOT_JSON,
    UNKNOWN_EVENT,
    Cut,
    Drip,
    EmptyIds,
    ErrorEvent,
    Fault,
    Hang,
    HangUp,
    Insert,
    ProviderDouble,
    RepeatedUsage,
    SameIndex,
    Script,
    ScriptedCall,
    ServesWhole,
    Split,
    Status,
    Turn,
)

PATHS = ["/chat/completions", "/responses", "/messages"]
FINISHES = {
    "/chat/completions": b'"finish_reason":"tool_calls"',
    "/responses": b'"type":"response.completed"',
    "/messages": b'"stop_reason":"tool_use"',
}
SAYING = ("Two ", "pieces 休暇.")
CALLING = (ScriptedCall("a", ('{"n', '":1}')), ScriptedCall("b", ("{}",)))


@pytest.fixture
async def client() -> AsyncIterator[httpx2.AsyncClient]:
    async with httpx2.AsyncClient(timeout=5) as found:
        yield found


@pytest.fixture(params=PATHS)
def path(request: pytest.FixtureRequest) -> str:
    return str(request.param)


async def sent(client: httpx2.AsyncClient, path: str, *faults: Fault) -> tuple[bytes, bool]:
    """Return the bytes of an answer with these faults, and whether HTTP says that they are all."""
    async with ProviderDouble([Turn(SAYING, CALLING, faults=faults)]) as double:
        received = b""
        try:
            async with client.stream(
                "POST", double.base_url + path, json={"stream": True}
            ) as answer:
                async for piece in answer.aiter_raw():
                    received += piece
        except httpx2.RemoteProtocolError:
            return received, False
        return received, True


def events(received: bytes) -> Iterator[dict[str, Any]]:
    for line in received.split(b"\n"):
        if line.startswith(b"data: {"):
            yield json.loads(line[6:])


async def test_no_fault_is_a_whole_stream(client: httpx2.AsyncClient, path: str) -> None:
    received, is_all = await sent(client, path)

    assert is_all
    assert received.count(FINISHES[path]) == 1
    assert all(events(received))


@pytest.mark.parametrize("half", [False, True])
async def test_a_cut_before_the_end_leaves_its_reason_out(
    client: httpx2.AsyncClient, path: str, half: bool
) -> None:
    whole, _ = await sent(client, path)

    received, is_all = await sent(client, path, Cut(half_event=half))

    assert not is_all
    assert whole.startswith(received)
    assert b"pieces" in received
    assert received.endswith(b"\n\n") is not half
    assert half or FINISHES[path] not in received


async def test_a_cut_after_the_end_keeps_its_reason(client: httpx2.AsyncClient, path: str) -> None:
    whole, _ = await sent(client, path)

    received, is_all = await sent(client, path, Cut(before_finish=False))

    assert not is_all
    assert whole.startswith(received)
    assert FINISHES[path] in received


async def test_a_cut_may_look_like_an_end(client: httpx2.AsyncClient, path: str) -> None:
    received, is_all = await sent(client, path, Cut(well_ended=True))

    assert is_all
    assert FINISHES[path] not in received


@pytest.mark.parametrize("split", [Split(every=1), Split(every=7), Split(places=(1, 50, 10**9))])
async def test_splitting_changes_no_byte(
    client: httpx2.AsyncClient, path: str, split: Split
) -> None:
    assert await sent(client, path, split) == await sent(client, path)


@pytest.mark.parametrize(
    "insert",
    [COMMENT, INVALID_UTF8, NOT_A_NUMBER, NOT_JSON, UNKNOWN_EVENT, Insert(b"\xff", before=-1)],
)
async def test_inserted_bytes_are_sent_as_they_are(
    client: httpx2.AsyncClient, path: str, insert: Insert
) -> None:
    whole, _ = await sent(client, path)

    received, _ = await sent(client, path, insert)

    assert received.replace(insert.data, b"", 1) == whole != received


async def test_an_error_event_ends_the_stream(client: httpx2.AsyncClient, path: str) -> None:
    received, is_all = await sent(client, path, ErrorEvent(after=2, code="overloaded"))

    *_, last = events(received)
    assert is_all
    assert b"overloaded" in received
    assert "error" in (last.get("type"), *last)


async def test_a_status_is_an_error_in_the_format_s_own_words(
    client: httpx2.AsyncClient, path: str
) -> None:
    async with ProviderDouble([Turn(faults=(Status(429, {"retry-after": "7"}),))]) as double:
        answer = await client.post(double.base_url + path, json={})

    assert (answer.status_code, answer.headers["retry-after"]) == (429, "7")
    assert answer.json()["error"]["message"] == "no"


async def test_a_whole_answer_may_come_where_a_stream_was_asked_for(
    client: httpx2.AsyncClient, path: str
) -> None:
    received, _ = await sent(client, path, ServesWhole())

    assert b"pieces" in received
    assert isinstance(json.loads(received), dict)


async def test_hanging_up_says_nothing(client: httpx2.AsyncClient, path: str) -> None:
    assert await sent(client, path, HangUp()) == (b"", False)


@pytest.mark.parametrize("after", [None, 0, 3])
async def test_hanging_stays_until_the_client_goes_and_that_is_noted(
    client: httpx2.AsyncClient, path: str, after: int | None
) -> None:
    async with ProviderDouble([Turn(SAYING, faults=(Hang(after),))]) as double:
        asking = asyncio.create_task(client.post(double.base_url + path, json={"stream": True}))
        request = await double.received(0)
        asking.cancel()
        await asyncio.wait([asking])
        await asyncio.wait_for(request.gone.wait(), 5)

    assert request.gone_at is not None
    assert request.gone_at >= request.at
    assert request.answered_at is None


async def test_a_drip_waits_before_every_piece(client: httpx2.AsyncClient, path: str) -> None:
    loop = asyncio.get_running_loop()
    begun = loop.time()

    received, _ = await sent(client, path, Drip(0.01))

    assert loop.time() - begun >= 0.01 * len(list(events(received)))


async def test_later_fragments_of_a_call_may_have_empty_ids(client: httpx2.AsyncClient) -> None:
    chat, _ = await sent(client, "/chat/completions", EmptyIds())
    responses, _ = await sent(client, "/responses", EmptyIds())

    assert chat.count(b'"id":""') == 3
    assert responses.count(b'"item_id":""') == 5


async def test_every_call_may_be_counted_as_the_first(client: httpx2.AsyncClient) -> None:
    received, _ = await sent(client, "/chat/completions", SameIndex())

    deltas = [event["choices"][0]["delta"] for event in events(received) if event["choices"]]
    fragments = [call for delta in deltas for call in delta.get("tool_calls", ())]
    assert {call["index"] for call in fragments} == {0}
    assert [call["id"] for call in fragments if "id" in call] == ["call_1", "call_2"]


async def test_usage_may_come_empty_before_it_comes(client: httpx2.AsyncClient) -> None:
    received, _ = await sent(client, "/chat/completions", RepeatedUsage())

    seen = [event["usage"]["prompt_tokens"] for event in events(received)]
    assert set(seen[:-1]) == {0}
    assert seen[-1] == 100


async def test_a_connection_serves_one_request_after_another(client: httpx2.AsyncClient) -> None:
    async with ProviderDouble([Turn(("one",)), Turn(("two",))]) as double:
        for expected in ("one", "two", "two"):
            answer = await client.post(f"{double.base_url}/chat/completions", json={})
            assert answer.json()["choices"][0]["message"]["content"] == expected

    assert len(double.requests) == 3


async def test_a_script_may_choose_by_the_request(client: httpx2.AsyncClient) -> None:
    script = Script(choose=lambda request, number: Turn((f"{request.body['model']} {number}",)))
    async with ProviderDouble(script) as double:
        url = f"{double.base_url}/chat/completions"
        answers = [await client.post(url, json={"model": name}) for name in "ab"]

    said = [answer.json()["choices"][0]["message"]["content"] for answer in answers]
    assert said == ["a 0", "b 1"]


async def test_another_page_is_not_there(client: httpx2.AsyncClient) -> None:
    async with ProviderDouble([Turn(("one",))]) as double:
        answer = await client.post(f"{double.base_url}/other", json={})

    assert answer.status_code == 404
