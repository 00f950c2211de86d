from datetime import timedelta
from typing import TYPE_CHECKING

from cogni_domain.access.rule import AccessRule
from cogni_kernel import DocumentId, TenantId
from cogni_testing import ok

if TYPE_CHECKING:
    from tests.edge.conftest import World


async def test_a_person_sees_own_conversations_newest_first(world: "World") -> None:
    first = await world.ask("How long is parental leave?")
    world.clock.advance(timedelta(minutes=1))
    second = await world.ask("Is parental leave paid?")
    await world.ask("How much parental leave do I get?", "bob")

    listed = (await world.call("GET", "/v1/conversations")).json()["conversations"]

    assert [c["id"] for c in listed] == [second["conversation_id"], first["conversation_id"]]
    assert listed[0] == {
        "id": second["conversation_id"],
        "title": "Is parental leave paid?",
        "surface_id": "chat",
        "started_at": "2026-03-02T09:01:00+00:00",
        "last_turn_at": "2026-03-02T09:01:00+00:00",
        "ended_at": None,
        "turn_count": 1,
    }


async def test_who_never_asked_has_none(world: "World") -> None:
    assert (await world.call("GET", "/v1/conversations")).json() == {"conversations": []}


async def test_a_conversation_is_reopened_with_its_turns(world: "World") -> None:
    first = await world.ask("How long is parental leave?")
    await world.ask("Is parental leave paid?", conversation_id=first["conversation_id"])

    found = (await world.call("GET", f"/v1/conversations/{first['conversation_id']}")).json()

    assert found["turn_count"] == 2
    assert [turn["question"] for turn in found["turns"]] == [
        "How long is parental leave?",
        "Is parental leave paid?",
    ]
    assert found["turns"][0] == {
        "run_ref": first["run_ref"],
        "asked_at": "2026-03-02T09:00:00+00:00",
        "question": "How long is parental leave?",
        "answer": first["text"],
        "kind": "completed",
    }


async def test_a_turn_whose_source_was_closed_is_withheld_everywhere(world: "World") -> None:
    outcome = await world.ask()
    document = DocumentId(outcome["citations"][0]["document_id"])
    hr = AccessRule.any_of("g:directory/hr")
    ok(await world.documents.change_rule(TenantId("acme"), document, hr, ()))

    reopened = await world.call("GET", f"/v1/conversations/{outcome['conversation_id']}")
    replayed = await world.resume(outcome["run_ref"])

    assert "20 weeks" not in reopened.text + str(replayed)
    assert [event.name for event in replayed] == ["run", "done"]
    assert set(replayed[-1].data["outcome"]) == set(outcome)  # type: ignore[call-overload]
