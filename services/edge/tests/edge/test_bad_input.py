import json
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

import pytest

from cogni_edge.requests import MAX_BODY

if TYPE_CHECKING:
    from tests.edge.conftest import World

MIB = 2**20
PROBLEM = {"type", "title", "status"}


def body(**members: object) -> bytes:
    return json.dumps({"message": "How much leave?", **members}).encode()


@pytest.mark.parametrize(
    ("raw", "field"),
    [
        (body(message=""), "message"),
        (body(message=" \t\r\n\u00a0\u3000"), "message"),
        (body(message="\u200b\u200d\ufeff\u2060\U000e0041"), "message"),
        (body(message="x" * MIB), "message"),
        (body(message="假" * 40_000), "message"),
        (body(message=7), "message"),
        (body(message=None), "message"),
        (body(message=["How much leave?"]), "message"),
        (b"{}", "message"),
        (body(grants=["handbook.search"]), "grants"),
        (body(scope={"tenant": "globex"}), "scope"),
        (body(tools=[]), "tools"),
        (body(principal="administrator"), "principal"),
        (body(readers=["everyone"]), "readers"),
        (body(conversation_id=""), "conversation_id"),
        (body(conversation_id="a b"), "conversation_id"),
        (body(conversation_id="x" * 129), "conversation_id"),
        (body(conversation_id=5), "conversation_id"),
        (body(surface_id="chat\n"), "surface_id"),
        (body(surface_id=None), "surface_id"),
        (body(subject_ref="page 7"), "subject_ref"),
        (body(subject_ref={"kind": "page"}), "subject_ref.id"),
        (body(subject_ref={"kind": "page", "id": "7", "body": "text"}), "subject_ref.body"),
        (b"", "body"),
        (b"message=How+much", "body"),
        (b"[]", "body"),
        (b'"How much leave?"', "body"),
        (b"null", "body"),
        (b'{"message": "How much', "body"),
        (b'{"message": "How much leave?"} {}', "body"),
        (b'{"message": "How much \xff\xfe leave?"}', "body"),
        (b'{"message": "\\ud800 leave?"}', "body"),
        (b'{"message": "\\udc00\\ud800 leave?"}', "body"),
        (b'{"message": NaN}', "message"),
        (b'\xef\xbb\xbf{"message": "How much leave?"}', "body"),
        ("\ufeff{}".encode("utf-16"), "body"),
        (b"[" * 100_000, "body"),
        (b'{"message":' * 50_000, "body"),
    ],
)
async def test_bad_input_names_its_field(world: "World", raw: bytes, field: str) -> None:
    answer = await world.call("POST", "/v1/turns", content=raw)

    assert (answer.status_code, answer.headers["content-type"]) == (422, "application/problem+json")
    problem = answer.json()
    assert set(problem) == {*PROBLEM, "field"}
    assert (problem["type"], problem["status"]) == ("about:blank", 422)
    assert problem["field"] == field or problem["field"].split(".")[0] == field
    assert 0 < len(problem["title"]) < 300
    assert not world.state.runs


async def test_an_unknown_member_is_named_and_never_echoed_whole(world: "World") -> None:
    answer = await world.call("POST", "/v1/turns", content=body(**{"x" * 100_000: 1}))

    assert answer.status_code == 422
    assert len(answer.content) < 1_000


async def test_a_null_character_is_not_an_error_of_ours(world: "World") -> None:
    answer = await world.call("POST", "/v1/turns", content=body(message="parental\x00 leave?"))

    assert answer.status_code == 200
    assert answer.json()["kind"] == "completed"


@pytest.mark.parametrize("media_type", ["text/plain", "application/x-www-form-urlencoded", ""])
async def test_the_body_counts_and_not_what_it_is_called(world: "World", media_type: str) -> None:
    headers = {"Content-Type": media_type}

    answer = await world.call("POST", "/v1/turns", content=body(), headers=headers)

    assert answer.status_code == 200


async def test_a_huge_body_is_refused_by_its_announcement(world: "World") -> None:
    answer = await world.call("POST", "/v1/turns", content=body(message="x" * 2 * MAX_BODY))

    assert answer.status_code == 413
    assert set(answer.json()) == PROBLEM


async def test_of_a_body_without_end_no_more_is_read_than_allowed(world: "World") -> None:
    given = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal given
        yield b'{"message": "'
        while given < 100 * MIB:
            given += MIB
            yield b"x" * MIB

    answer = await world.call("POST", "/v1/turns", content=endless())

    assert answer.status_code == 413
    assert given <= MAX_BODY + 2 * MIB


@pytest.mark.parametrize(
    "path", ["/v1/turns", "/v1/runs/r/stop", "/v1/proposals/p/accept", "/v1/proposals/p/decline"]
)
async def test_a_key_that_is_too_long_is_refused(world: "World", path: str) -> None:
    headers = {"Idempotency-Key": "k" * 256}

    answer = await world.call("POST", path, content=body(), headers=headers)

    assert (answer.status_code, answer.json()["field"]) == (422, "Idempotency-Key")


@pytest.mark.parametrize(
    "cursor",
    ["x", "-1", "1.5", "1e3", "０", "²", "0x1", "1 2", "9" * 17, "9007199254740993", "1,2"],
)
async def test_a_cursor_that_is_none_is_refused(world: "World", cursor: str) -> None:
    run = (await world.ask())["run_ref"]
    headers = {"Last-Event-ID": cursor.encode("utf-8")}

    answer = await world.call("GET", f"/v1/runs/{run}/events", headers=headers)

    assert (answer.status_code, answer.json()["field"]) == (422, "Last-Event-ID")


async def test_a_cursor_that_lies_ahead_is_refused(world: "World") -> None:
    outcome = await world.ask()
    last = (await world.resume(outcome["run_ref"]))[-1].id

    for ahead in (last + 1, 2**53):
        answer = await world.call(
            "GET", f"/v1/runs/{outcome['run_ref']}/events", headers={"Last-Event-ID": str(ahead)}
        )
        assert (answer.status_code, answer.json()["field"]) == (422, "Last-Event-ID")


@pytest.mark.parametrize(
    "path",
    [
        *("/", "/v1", "/v1/turns/", "/v1/nothing", "/v1/runs//events", "/v1/runs/x/y/z"),
        *("/v1/conversations/a/b", "/.git/config", "/healthz/"),
    ],
)
async def test_an_unknown_address_is_not_there(world: "World", path: str) -> None:
    answer = await world.call("GET", path)

    assert (answer.status_code, set(answer.json())) == (404, PROBLEM)


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("GET", "/v1/turns", "POST"),
        ("DELETE", "/v1/turns", "POST"),
        ("PUT", "/v1/conversations/c", "GET"),
        ("POST", "/v1/runs/r/events", "GET"),
        ("GET", "/v1/runs/r/stop", "POST"),
        ("PATCH", "/healthz", "GET"),
        ("BREW", "/v1/proposals/p/accept", "POST"),
    ],
)
async def test_a_method_that_an_address_does_not_take_is_named(
    world: "World", method: str, path: str, allowed: str
) -> None:
    answer = await world.call(method, path)

    assert (answer.status_code, set(answer.json())) == (405, PROBLEM)
    assert allowed in answer.headers["allow"]


@pytest.mark.parametrize(
    "ref", ["%00", "%ff", "%F0%9F%98%80", "a" * 4000, "%2e%2e", "'--", "%0d%0aX:1"]
)
@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/v1/runs/{}/events"),
        ("POST", "/v1/runs/{}/stop"),
        ("GET", "/v1/runs/{}/citations/s1"),
        ("GET", "/v1/runs/r/citations/{}"),
        ("POST", "/v1/proposals/{}/accept"),
        ("POST", "/v1/proposals/{}/decline"),
        ("GET", "/v1/conversations/{}"),
    ],
)
async def test_an_odd_reference_is_not_there(
    world: "World", method: str, path: str, ref: str
) -> None:
    answer = await world.call(method, path.format(ref))

    assert (answer.status_code, set(answer.json())) == (404, PROBLEM)
