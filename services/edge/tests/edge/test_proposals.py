import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import httpx2
import pytest

from cogni_domain.access.tokens import user_token
from cogni_kernel import PrincipalId, TenantId
from cogni_testing import ok

if TYPE_CHECKING:
    from tests.edge.conftest import World

KEY = {"Idempotency-Key": "k1"}
BOOK = "Book a room for me."


async def proposed(world: "World") -> dict[str, Any]:
    outcome = await world.ask(BOOK)
    assert outcome["kind"] == "proposed"
    proposal: dict[str, Any] = outcome["proposal"]
    return proposal


async def decide(
    world: "World", proposal: dict[str, Any], verb: str, headers: dict[str, str] | None = None
) -> httpx2.Response:
    path = f"/v1/proposals/{proposal['id']}/{verb}"
    return await world.call("POST", path, headers=headers or {})


async def test_a_change_is_proposed_and_not_made(world: "World") -> None:
    events = await world.stream(BOOK)

    names = [event.name for event in events]
    [proposal] = [event.data for event in events if event.name == "proposal"]
    assert names[-1] == "done"
    assert set(proposal) == {"id", "rendering", "expires_at"}
    assert "Atrium" in str(proposal["rendering"])
    outcome: Any = events[-1].data["outcome"]
    assert outcome["proposal"]["id"] == proposal["id"]
    assert (outcome["kind"], outcome["proposal"]["state"]) == ("proposed", "pending")
    assert world.booked == []


async def test_what_is_accepted_is_done_once_and_says_so(world: "World") -> None:
    answer = await decide(world, await proposed(world), "accept")

    assert answer.status_code == 200
    assert set(answer.json()) == {
        "id",
        "tool",
        "state",
        "arguments",
        "rendering",
        "expires_at",
        "note",
    }
    assert (answer.json()["state"], answer.json()["note"]) == ("executed", "Booked: Atrium.")
    assert world.booked == ["Atrium"]


async def test_what_is_declined_is_not_done(world: "World") -> None:
    answer = await decide(world, await proposed(world), "decline")

    assert (answer.status_code, answer.json()["state"]) == (200, "declined")
    assert world.booked == []


@pytest.mark.parametrize("verb", ["accept", "decline"])
async def test_a_decision_that_is_repeated_with_its_key_is_answered_again(
    world: "World", verb: str
) -> None:
    proposal = await proposed(world)

    first, again = [await decide(world, proposal, verb, KEY) for _ in range(2)]

    assert (first.status_code, again.status_code) == (200, 200)
    assert again.json() == first.json()
    assert world.booked == ["Atrium"] * (verb == "accept")


@pytest.mark.parametrize("first", ["accept", "decline"])
@pytest.mark.parametrize("then", ["accept", "decline"])
async def test_without_a_key_a_second_decision_is_a_conflict(
    world: "World", first: str, then: str
) -> None:
    proposal = await proposed(world)
    await decide(world, proposal, first)

    answer = await decide(world, proposal, then)

    assert answer.status_code == 409
    assert answer.json()["title"] == "This proposal has already been decided."


@pytest.mark.parametrize(("first", "then"), [("accept", "decline"), ("decline", "accept")])
async def test_the_opposite_decision_is_a_conflict_with_its_key_too(
    world: "World", first: str, then: str
) -> None:
    proposal = await proposed(world)
    await decide(world, proposal, first, KEY)

    assert (await decide(world, proposal, then, KEY)).status_code == 409


@pytest.mark.parametrize("headers", [{}, KEY])
async def test_of_many_at_once_one_decides(world: "World", headers: dict[str, str]) -> None:
    proposal = await proposed(world)
    verbs = ["accept", "decline"] * 6

    answers = await asyncio.gather(*(decide(world, proposal, verb, headers) for verb in verbs))

    states = {answer.json()["state"] for answer in answers if answer.status_code == 200}
    assert {answer.status_code for answer in answers} == {200, 409}
    assert len(states) == 1
    assert world.booked == ["Atrium"] * ("executed" in states)


@pytest.mark.parametrize("verb", ["accept", "decline"])
@pytest.mark.parametrize("headers", [{}, KEY])
async def test_a_proposal_expires(world: "World", verb: str, headers: dict[str, str]) -> None:
    proposal = await proposed(world)
    world.clock.advance(timedelta(hours=24))

    answer = await decide(world, proposal, verb, headers)

    assert answer.status_code == 409
    assert "expired" in answer.json()["title"]
    assert world.booked == []


async def test_who_lost_the_grant_can_accept_no_more(world: "World") -> None:
    proposal = await proposed(world)
    alice = user_token(PrincipalId("alice"))
    ok(await world.directory.set_grants(TenantId("acme"), alice, frozenset()))

    assert (await decide(world, proposal, "accept")).status_code == 404
    assert world.booked == []
