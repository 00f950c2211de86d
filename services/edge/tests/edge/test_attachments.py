"""Files that a person adds to a conversation."""

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import httpx2
import pytest

from cogni_edge import requests
from cogni_kernel import ConversationId, PrincipalId, TenantId
from cogni_testing import ok

if TYPE_CHECKING:
    from tests.edge.conftest import World

TEXT = b"The zeppelin hangar closes at nine."
ASKED = "When does the zeppelin hangar close?"


async def conversation_of(world: "World", person: str = "alice") -> str:
    outcome = await world.ask(person=person)
    return str(outcome["conversation_id"])


async def add(
    world: "World",
    conversation: str,
    person: str = "alice",
    *,
    name: str = "hangar.txt",
    data: bytes = TEXT,
    **more: Any,
) -> httpx2.Response:
    path = f"/v1/conversations/{conversation}/attachments"
    return await world.call("POST", path, person, params={"name": name}, content=data, **more)


async def found(world: "World", conversation: str | None, person: str = "alice") -> list[object]:
    body = {"conversation_id": conversation} if conversation else {}
    world.model.pieces = ("At nine. ", *(f"[s{n}]" for n in range(1, 30)))
    outcome = await world.ask(ASKED, person, **body)
    return [citation["label"] for citation in outcome["citations"]]


async def test_the_next_question_finds_what_was_added(world: "World") -> None:
    conversation = await conversation_of(world)
    assert "hangar.txt" not in await found(world, conversation)

    answer = await add(world, conversation)

    assert answer.status_code == 201
    assert answer.json()["name"] == "hangar.txt"
    assert (answer.json()["conversation_id"], answer.json()["unread"]) == (conversation, [])
    path = f"/v1/conversations/{conversation}/attachments"
    held = {"document_id": answer.json()["document_id"], "name": "hangar.txt"}
    assert (await world.call("GET", path)).json() == {"attachments": [held]}
    assert (await world.call("GET", path, "bob")).status_code == 404
    assert "hangar.txt" in await found(world, conversation)


async def test_it_is_that_persons_alone(world: "World") -> None:
    conversation, theirs = await conversation_of(world), await conversation_of(world, "bob")
    document = (await add(world, conversation)).json()["document_id"]
    await add(world, theirs, "bob", name="other.txt", data=b"The zeppelin hangar is blue.")

    assert await found(world, theirs, "bob") == ["other.txt"]
    for person in ("bob", "mallory"):
        assert (await add(world, conversation, person)).status_code == 404
        path = f"/v1/conversations/{conversation}/attachments/{document}"
        assert (await world.call("DELETE", path, person)).status_code == 404


async def test_what_was_removed_is_not_found_and_its_answers_are_withheld(world: "World") -> None:
    conversation = await conversation_of(world)
    document = (await add(world, conversation)).json()["document_id"]
    await found(world, conversation)
    path = f"/v1/conversations/{conversation}/attachments/{document}"

    gone = [(await world.call("DELETE", path)).status_code for _ in range(2)]

    assert gone == [204, 404]
    assert "hangar.txt" not in await found(world, conversation)
    turns = (await world.call("GET", f"/v1/conversations/{conversation}")).json()["turns"]
    assert "can no longer open" in turns[1]["answer"]


async def test_it_goes_with_the_conversation(world: "World") -> None:
    conversation = await conversation_of(world)
    await add(world, conversation)

    await world.call("POST", f"/v1/conversations/{conversation}/end")

    assert "hangar.txt" not in await found(world, conversation)
    assert not [d for d in world.state.documents.values() if d.title == "hangar.txt"]


async def test_a_sweep_takes_the_files_of_ended_conversations_alone(world: "World") -> None:
    ended, going_on = await conversation_of(world), await conversation_of(world)
    await add(world, ended, name="ended.txt")
    await add(world, going_on, name="going on.txt")
    alice, acme = PrincipalId("alice"), TenantId("acme")
    transcripts = world.services.surfaces.transcripts.transcripts
    ok(await transcripts.end(acme, alice, ConversationId(ended)))

    assert ok(await world.services.surfaces.attachments.sweep(acme)) == 1
    assert ok(await world.services.surfaces.attachments.sweep(TenantId("globex"))) == 0

    titles = {document.title for document in world.state.documents.values()}
    assert "going on.txt" in titles
    assert "ended.txt" not in titles


async def test_a_key_makes_one_file_of_two_calls(world: "World") -> None:
    conversation, key = await conversation_of(world), {"Idempotency-Key": "k1"}

    first = await add(world, conversation, headers=key)
    again = await add(world, conversation, headers=key)
    other = await add(world, conversation)

    assert first.json() == again.json() != other.json()
    assert len([d for d in world.state.documents.values() if d.title == "hangar.txt"]) == 2


async def test_ten_files_are_enough(world: "World") -> None:
    conversation = await conversation_of(world)

    answers = [(await add(world, conversation)).status_code for _ in range(11)]

    assert answers == [201] * 10 + [409]


async def test_a_file_that_cannot_be_read_says_why(world: "World") -> None:
    answer = await add(world, await conversation_of(world), data=b"\xff\xfe\x00")

    assert (answer.status_code, answer.json()["field"]) == (422, "body")
    assert answer.json()["title"].startswith("This kind of file cannot be read. Save it as a PDF,")
    assert not [d for d in world.state.documents.values() if d.title == "hangar.txt"]


@pytest.mark.parametrize("name", ["", "  ", "x" * 201])
async def test_a_file_has_a_name(world: "World", name: str) -> None:
    answer = await add(world, await conversation_of(world), name=name)

    assert (answer.status_code, answer.json()["field"]) == (422, "name")


async def test_a_file_that_is_too_large_is_refused(
    world: "World", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(requests, "MAX_FILE", 10)

    assert (await add(world, await conversation_of(world))).status_code == 413


async def test_a_conversation_that_is_not_there_takes_nothing(world: "World") -> None:
    assert (await add(world, "nothing")).status_code == 404


async def test_it_is_read_in_its_own_conversation_alone(world: "World") -> None:
    conversation, other = await conversation_of(world), await conversation_of(world)
    await add(world, conversation)
    await add(world, other, name="other.txt", data=b"The zeppelin hangar is blue.")

    assert "hangar.txt" in await found(world, conversation)
    assert "hangar.txt" not in await found(world, other)
    assert "hangar.txt" not in await found(world, None)


async def test_what_it_answered_opens_again_in_its_conversation(world: "World") -> None:
    conversation = await conversation_of(world)
    await add(world, conversation)
    world.model.pieces = ("At nine. ", *(f"[s{n}]" for n in range(1, 30)))
    outcome = await world.ask(ASKED, conversation_id=conversation)
    run = outcome["run_ref"]

    handle = next(c["handle"] for c in outcome["citations"] if c["label"] == "hangar.txt")
    source = await world.call("GET", f"/v1/runs/{run}/citations/{handle}")
    turns = (await world.call("GET", f"/v1/conversations/{conversation}")).json()["turns"]
    ending = (await world.resume(run))[-1].data["outcome"]

    assert source.json()["text"] == TEXT.decode()
    assert turns[-1]["answer"].startswith("At nine.")
    assert isinstance(ending, dict)
    assert ending["text"].startswith("At nine.")


async def first(world: "World", person: str = "alice", **more: Any) -> httpx2.Response:
    sent = {"params": {"name": "hangar.txt"}, "content": TEXT, **more}
    return await world.call("POST", "/v1/attachments", person, **sent)


async def test_a_conversation_begins_with_a_file_and_its_first_question_finds_it(
    world: "World",
) -> None:
    begun = await first(world)
    conversation = begun.json()["conversation_id"]

    assert begun.status_code == 201
    assert "hangar.txt" in await found(world, conversation)
    (listed,) = (await world.call("GET", "/v1/conversations")).json()["conversations"]
    assert (listed["id"], listed["title"], listed["turn_count"]) == (conversation, ASKED, 1)
    assert (await add(world, conversation, "bob")).status_code == 404


async def test_a_key_begins_one_conversation(world: "World") -> None:
    key = {"Idempotency-Key": "k1"}

    begun = [(await first(world, headers=key)).json() for _ in range(2)]
    theirs = (await first(world, "bob", headers=key)).json()

    assert begun[0] == begun[1]
    assert theirs["conversation_id"] != begun[0]["conversation_id"]
    assert len([d for d in world.state.documents.values() if d.title == "hangar.txt"]) == 2


async def test_a_file_that_cannot_be_read_begins_nothing(world: "World") -> None:
    answer = await first(world, content=b"\xff\xfe\x00")
    nowhere = await first(world, params={"name": "a.txt", "surface_id": "billboard"})

    assert (answer.status_code, nowhere.status_code) == (422, 404)
    assert (await world.call("GET", "/v1/conversations")).json() == {"conversations": []}


async def test_a_conversation_without_a_question_is_swept_with_its_file(world: "World") -> None:
    await first(world)
    transcripts = world.services.surfaces.transcripts.transcripts
    world.clock.advance(timedelta(days=2))

    assert ok(await transcripts.end_idle(world.clock.now())) == 1
    assert ok(await world.services.surfaces.attachments.sweep(TenantId("acme"))) == 1


async def test_the_files_in_a_file_are_read_too_and_what_is_not_is_named(world: "World") -> None:
    conversation = await conversation_of(world)
    mail = b"\x1e".join(
        (
            b"See the plan.",
            b"hangar plan.txt\x1fThe zeppelin hangar closes at nine.",
            b"scan\x1f\xff",
        )
    )

    answer = await add(world, conversation, name="plan.eml", data=mail)

    assert answer.json()["unread"] == ["scan"]
    assert "hangar plan.txt" in await found(world, conversation)
    path = f"/v1/conversations/{conversation}/attachments"
    (held,) = (await world.call("GET", path)).json()["attachments"]
    assert held["name"] == "plan.eml"
    assert (await world.call("DELETE", f"{path}/{held['document_id']}")).status_code == 204
    titles = {document.title for document in world.state.documents.values()}
    assert not titles & {"plan.eml", "hangar plan.txt"}
