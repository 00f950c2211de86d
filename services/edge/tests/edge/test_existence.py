"""Absent, forbidden, another run's and another tenant's are one and the same answer."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import httpx2
import pytest

from cogni_domain.access.rule import AccessRule
from cogni_kernel import DocumentId, TenantId
from cogni_testing import ok

if TYPE_CHECKING:
    from tests.edge.conftest import World

Answer = tuple[int, Mapping[str, str], bytes]

ABSENT = "0" * 16
"""Of the shape of a reference, and nobody's."""


def whole(answer: httpx2.Response) -> Answer:
    return answer.status_code, dict(answer.headers), answer.content


async def the_one_answer(world: "World") -> Answer:
    return whole(await world.call("GET", f"/v1/runs/{ABSENT}/citations/s1"))


async def a_proposal(world: "World") -> str:
    return str((await world.ask("Book a room for me."))["proposal"]["id"])


async def test_the_one_answer_says_nothing(world: "World") -> None:
    status, headers, content = await the_one_answer(world)

    assert status == 404
    assert headers == {
        "cache-control": "no-store",
        "x-content-type-options": "nosniff",
        "content-length": str(len(content)),
        "content-type": "application/problem+json",
    }
    assert content.decode() == (
        '{"type":"about:blank","title":"There is nothing here under that name that you can open.",'
        '"status":404}'
    )


@pytest.mark.parametrize("person", ["bob", "hana", "mallory"])
@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/v1/runs/{run_ref}/events"),
        ("POST", "/v1/runs/{run_ref}/stop"),
        ("GET", "/v1/runs/{run_ref}/citations/s1"),
        ("GET", "/v1/conversations/{conversation_id}"),
    ],
)
async def test_what_is_anothers_is_as_what_never_was(
    world: "World", person: str, method: str, path: str
) -> None:
    outcome = await world.ask()
    absent = {"run_ref": ABSENT, "conversation_id": ABSENT}

    there = whole(await world.call(method, path.format(**outcome), person))
    nowhere = whole(await world.call(method, path.format(**absent), person))

    assert there == nowhere == await the_one_answer(world)


@pytest.mark.parametrize("person", ["bob", "mallory"])
@pytest.mark.parametrize("verb", ["accept", "decline"])
@pytest.mark.parametrize("headers", [{}, {"Idempotency-Key": "k"}])
async def test_a_proposal_of_anothers_is_as_one_that_never_was(
    world: "World", person: str, verb: str, headers: dict[str, str]
) -> None:
    proposal = await a_proposal(world)

    answers = [
        whole(await world.call("POST", f"/v1/proposals/{name}/{verb}", person, headers=headers))
        for name in (proposal, ABSENT)
    ]

    assert answers == [await the_one_answer(world)] * 2


@pytest.mark.parametrize("person", ["bob", "mallory"])
async def test_a_conversation_of_anothers_cannot_be_gone_on_with(
    world: "World", person: str
) -> None:
    mine = (await world.ask())["conversation_id"]

    answers = [
        whole(
            await world.call(
                "POST", "/v1/turns", person, json={"message": "Leave?", "conversation_id": name}
            )
        )
        for name in (mine, ABSENT)
    ]

    assert answers == [await the_one_answer(world)] * 2


@pytest.mark.parametrize(
    "handle", ["s2", "s0", "s01", "S1", "[s1]", "s1 ", "s1%00", "%20", "1", "ｓ1", "s" * 300]
)
async def test_a_handle_that_the_run_did_not_issue_opens_nothing(
    world: "World", handle: str
) -> None:
    run = (await world.ask())["run_ref"]

    answer = await world.call("GET", f"/v1/runs/{run}/citations/{handle}")

    assert whole(answer) == await the_one_answer(world)


async def test_a_handle_opens_in_its_own_run_alone(world: "World") -> None:
    first = await world.ask()
    world.model.pieces = ("20 weeks of parental leave [s2].",)
    second = await world.ask(conversation_id=first["conversation_id"])

    crossed = [
        await world.call("GET", f"/v1/runs/{first['run_ref']}/citations/s2"),
        await world.call("GET", f"/v1/runs/{second['run_ref']}/citations/s1"),
    ]

    assert [whole(answer) for answer in crossed] == [await the_one_answer(world)] * 2


async def test_a_source_opens_for_who_was_answered(world: "World") -> None:
    outcome = await world.ask()

    answer = await world.call("GET", f"/v1/runs/{outcome['run_ref']}/citations/s1")

    assert answer.status_code == 200
    [cited] = outcome["citations"]
    assert answer.json() == {
        **cited,
        "text": "Everybody gets 20 weeks of parental leave on full pay.",
        "url": None,
    }


async def test_a_source_that_was_closed_meanwhile_is_not_there(world: "World") -> None:
    outcome: dict[str, Any] = await world.ask()
    document = DocumentId(outcome["citations"][0]["document_id"])
    hr = AccessRule.any_of("g:directory/hr")

    ok(await world.documents.change_rule(TenantId("acme"), document, hr, ()))

    answer = await world.call("GET", f"/v1/runs/{outcome['run_ref']}/citations/s1")
    assert whole(answer) == await the_one_answer(world)


async def test_a_source_that_was_deleted_is_not_there(world: "World") -> None:
    outcome: dict[str, Any] = await world.ask()
    document = DocumentId(outcome["citations"][0]["document_id"])

    ok(await world.documents.delete(TenantId("acme"), [document], ()))

    answer = await world.call("GET", f"/v1/runs/{outcome['run_ref']}/citations/s1")
    assert whole(answer) == await the_one_answer(world)


async def test_an_address_that_no_route_has_gives_the_same_answer(world: "World") -> None:
    assert whole(await world.call("GET", "/v1/nothing")) == await the_one_answer(world)
