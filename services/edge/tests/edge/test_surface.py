"""What a surface asks for beside the conversation itself."""

from typing import TYPE_CHECKING

import pytest

from cogni_domain.access.directory import Tenant
from cogni_domain.events import CorrectionSubmitted
from cogni_kernel import TenantId
from cogni_testing import ok

if TYPE_CHECKING:
    from tests.edge.conftest import World

GERMAN = {"Accept-Language": "de"}


async def test_a_surface_tells_what_it_is_to_this_person(world: "World") -> None:
    brand = {"colour_accent": "#0a5a3c", "name": "Ask Acme", "label": "none"}
    ok(await world.directory.put_tenant(Tenant(TenantId("acme"), "acme", brand=brand)))

    answer = await world.call("GET", "/v1/surface?surface_id=chat", headers=GERMAN)

    assert answer.json() == {
        "surface_id": "chat",
        "name": "Ask Acme",
        "person": "Alice",
        "locale": "de",
        "brand": {"colour_accent": "#0a5a3c", "name": "Ask Acme"},
        "names": {},
        "capabilities": {
            "streaming": True,
            "rich_artifacts": True,
            "inline_suggestion": False,
            "attachments": True,
            "confirmation_ui": True,
            "max_output_length": 20_000,
        },
        "context": {"items": [], "removable": True},
    }


@pytest.mark.parametrize(
    ("query", "person", "seen"),
    [
        (
            "subject_kind=person&subject_id=bob",
            "alice",
            [{"kind": "person", "id": "bob", "title": "Bob"}],
        ),
        ("subject_kind=person&subject_id=bob", "mallory", []),
        ("subject_kind=person&subject_id=nobody", "alice", []),
        ("subject_kind=page&subject_id=wiki%2Fhr%2Fleave", "alice", []),
    ],
)
async def test_the_assistant_sees_of_a_page_what_the_person_may_read_of_it(
    world: "World", query: str, person: str, seen: list[object]
) -> None:
    answer = await world.call("GET", f"/v1/surface?{query}", person)

    assert answer.status_code == 200
    assert answer.json()["context"] == {"items": seen, "removable": True}


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("subject_kind=person", "subject_id"),
        ("subject_id=bob", "subject_kind"),
        ("subject_kind=a%20b&subject_id=bob", "subject_kind"),
        ("subject_kind=person&subject_id=%00", "subject_id"),
    ],
)
async def test_half_a_reference_is_refused(world: "World", query: str, field: str) -> None:
    answer = await world.call("GET", f"/v1/surface?{query}")

    assert (answer.status_code, answer.json()["field"]) == (422, field)


MOUNTED = {"surface_id": "chat", "key_id": "key-acme", "placement": "docked", "locale": "de"}


async def test_what_a_host_mounts_with_is_taken_and_answered_as_what_is_asked_for(
    world: "World",
) -> None:
    about = {"kind": "person", "id": "bob"}

    mounted = await world.call("POST", "/v1/surface", json={**MOUNTED, "subject_ref": about})
    asked = await world.call("GET", "/v1/surface?subject_kind=person&subject_id=bob")

    assert mounted.status_code == 200
    assert mounted.json() == asked.json()
    assert mounted.json()["context"]["items"] == [{**about, "title": "Bob"}]


@pytest.mark.parametrize(
    ("given", "field", "why"),
    [
        ({"grants": ["all"]}, "grants", "from the directory"),
        ({"scope": "everything"}, "scope", "from the directory"),
        ({"tools": []}, "tools", "follows from the person's grants"),
        ({"principal": "bob"}, "principal", "proven by principal_token"),
        ({"record": {"text": "secret"}}, "record", "named by subject_ref"),
        (
            {"subject_ref": {"kind": "person", "id": "bob", "body": "x"}},
            "subject_ref",
            "kind and id alone",
        ),
        ({"colour": "red"}, "colour", "There is no 'colour'"),
        ({"brand": {"generated_label": ""}}, "brand", "generated_label"),
        ({"placement": "everywhere"}, "placement", "docked or launcher"),
        ({"key_id": None}, "key_id", "is a name of letters"),
        ({"principal_token": "a.b.c"}, "principal_token", "Authorization"),
    ],
)
async def test_a_developer_whose_host_mounts_with_more_is_told_why(
    world: "World", given: dict[str, object], field: str, why: str
) -> None:
    answer = await world.call("POST", "/v1/surface", json={**MOUNTED, **given})

    assert answer.status_code == 422
    assert answer.json()["field"] == field
    assert why in answer.json()["title"]


@pytest.mark.parametrize("body", ["", "[]", "null", '"chat"', "{", '{"surface_id": 1}'])
async def test_what_is_no_config_is_refused(world: "World", body: str) -> None:
    answer = await world.call("POST", "/v1/surface", content=body.encode())

    assert answer.status_code == 422


async def test_a_config_proves_nobody(world: "World") -> None:
    assert (await world.call("POST", "/v1/surface", None, json=MOUNTED)).status_code == 401


async def test_what_a_person_looks_at_is_given_to_the_model_as_content(world: "World") -> None:
    world.model.pieces = ("Bob keeps them.",)
    seen: list[str] = []
    told = world.model.complete

    async def listening(messages, tools, emitter):  # type: ignore[no-untyped-def]
        seen.extend(m.text for m in messages if m.origin.value == "subject")
        return await told(messages, tools, emitter)

    world.model.complete = listening  # type: ignore[method-assign]
    about = {"kind": "person", "id": "bob"}
    outcome = await world.ask("Zzz qqq?", subject_ref=about)
    hidden = await world.ask("Zzz qqq?", "mallory", subject_ref=about)

    [text] = seen
    assert '<attachment name="Bob">\nBob keeps the keys of the archive.\n</attachment>' in text
    assert (outcome["kind"], outcome["text"]) == ("completed", "Bob keeps them.")
    assert hidden["kind"] == "refused"


async def test_a_chart_is_a_picture_with_its_figures_beside_it(world: "World") -> None:
    outcome = await world.ask("Show a chart.")

    answer = await world.call("GET", f"/v1/runs/{outcome['run_ref']}/widgets/c1")

    found = answer.json()
    assert (found["marker"], found["kind"], found["state"]) == ("[[CHART:c1]]", "CHART", "ready")
    assert found["title"] == "People"
    assert found["table"] == {"columns": ["people", "Berlin"], "rows": [["Q1", 3], ["Q2", None]]}
    assert found["svg"].startswith("<svg ")


async def test_a_chart_is_drawn_for_the_room_that_there_is(world: "World") -> None:
    run = (await world.ask("Show a chart."))["run_ref"]

    narrow = await world.call("GET", f"/v1/runs/{run}/widgets/c1?width=300")
    wrong = [
        await world.call("GET", f"/v1/runs/{run}/widgets/c1?width={given}")
        for given in ("", "-1", "wide", "٣", "100000")
    ]

    assert ' width="300"' in narrow.json()["svg"]
    assert [(w.status_code, w.json()["field"]) for w in wrong] == [(422, "width")] * 5


async def test_a_widget_is_its_persons_and_its_runs_own(world: "World") -> None:
    charted = await world.ask("Show a chart.")
    again = await world.ask("Show a chart.", conversation_id=charted["conversation_id"])
    other = await world.ask("How much leave?", conversation_id=charted["conversation_id"])
    run = charted["run_ref"]

    async def state(run: object, ref: str, person: str = "alice") -> object:
        answer = await world.call("GET", f"/v1/runs/{run}/widgets/{ref}", person)
        return answer.json().get("state", answer.status_code)

    assert await state(run, "c1") == "ready"
    assert await state(again["run_ref"], "c2") == "ready"
    assert await state(again["run_ref"], "c1") == "never_issued"
    assert await state(other["run_ref"], "c1") == "never_issued"
    assert await state(run, "c9") == "never_issued"
    assert await state(run, "b1") == "never_issued"
    for ref in ("c0", "c１", "z1", "c", "1", "%2e%2e", "c1]]"):
        assert await state(run, ref) == 404
    for person in ("bob", "mallory"):
        assert await state(run, "c1", person) == 404


async def test_an_answer_that_is_too_long_for_its_surface_is_cut_and_the_rest_is_there(
    world: "World",
) -> None:
    world.model.pieces = ("Everybody gets leave [s1]. ", *["And that is so. "] * 3000, "The end.")
    outcome = await world.ask()
    run = outcome["run_ref"]

    rest = await world.call("GET", f"/v1/runs/{run}/rest")
    terminal = await world.call("GET", f"/v1/runs/{run}/rest?surface_id=terminal")

    assert outcome["more"] is True
    assert 10_000 < len(outcome["text"]) <= 20_000
    assert outcome["text"].endswith(".")
    assert rest.json()["text"].endswith("The end.")
    whole = outcome["text"] + rest.json()["text"]
    assert whole == "".join(world.model.pieces)
    assert len(terminal.json()["text"]) > len(rest.json()["text"])
    assert (await world.call("GET", f"/v1/runs/{run}/rest", "bob")).status_code == 404


async def test_a_stream_shows_no_more_of_an_answer_than_its_surface_does(world: "World") -> None:
    world.model.pieces = [f"Line {n} of the long answer [s1]. " for n in range(1200)]

    events = await world.stream()

    text = "".join(str(event.data["text"]) for event in events if event.name == "token")
    outcome = events[-1].data["outcome"]
    assert isinstance(outcome, dict)
    assert 19_000 < len(text) <= 20_000
    assert text.startswith(outcome["text"])
    for after in (1, events[len(events) // 2].id, events[-2].id):
        resumed = await world.resume(events[0].data["run_ref"], after)
        assert resumed == [event for event in events if event.id > after]


async def test_a_person_says_what_they_think_and_a_bad_verdict_is_told(world: "World") -> None:
    run = (await world.ask())["run_ref"]
    body = {"verdict": "down", "reasons": ["outdated"], "comment": "It is 26 weeks since May."}
    path, key = f"/v1/runs/{run}/feedback", {"Idempotency-Key": "k1"}

    first = await world.call("POST", path, json=body, headers=key)
    again = await world.call("POST", path, json=body, headers=key)
    good = await world.call("POST", path, json={"verdict": "up"})

    assert (first.status_code, good.status_code) == (201, 201)
    assert first.json() == again.json()
    assert len(world.state.reviews) == 2
    told = [e for e in world.state.events.values() if isinstance(e, CorrectionSubmitted)]
    assert [e.review_ref for e in told] == [first.json()["review_ref"]]
    assert "26 weeks" not in repr(told)
    for person in ("bob", "mallory"):
        assert (await world.call("POST", path, person, json=body)).status_code == 404


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "verdict"),
        ({"verdict": "sideways"}, "verdict"),
        ({"verdict": "down", "reasons": ["rude"]}, "reasons"),
        ({"verdict": "down", "comment": "x" * 2001}, "comment"),
        ({"verdict": "down", "run_ref": "r"}, "run_ref"),
    ],
)
async def test_a_verdict_that_is_none_is_refused(
    world: "World", body: dict[str, object], field: str
) -> None:
    run = (await world.ask())["run_ref"]

    answer = await world.call("POST", f"/v1/runs/{run}/feedback", json=body)

    assert answer.status_code == 422
    assert answer.json()["field"].startswith(field)


async def test_a_conversation_is_ended_by_its_person_alone_and_once(world: "World") -> None:
    conversation = (await world.ask())["conversation_id"]
    path = f"/v1/conversations/{conversation}/end"

    others = [await world.call("POST", path, person) for person in ("bob", "mallory")]
    ended = [await world.call("POST", path) for _ in range(2)]

    assert [answer.status_code for answer in others] == [404, 404]
    assert [answer.status_code for answer in ended] == [204, 204]
    events = [type(e).__name__ for e in world.state.events.values()]
    assert events.count("ConversationEnded") == 1
    found = await world.call("GET", f"/v1/conversations/{conversation}")
    assert found.json()["ended_at"] is not None


async def test_people_are_spoken_to_in_their_language_and_the_model_in_none(
    world: "World",
) -> None:
    body = {"message": "Zzz qqq?"}
    german = await world.call("POST", "/v1/turns", json=body, headers=GERMAN)
    refused = await world.call("POST", "/v1/turns", None, json=body, headers=GERMAN)

    assert german.json()["message"].startswith("Dazu habe ich")
    assert german.json()["generated_label"].startswith("Automatisch erzeugte")
    assert refused.json()["title"].startswith("Ihre Anmeldung")


async def test_a_surface_without_a_confirmation_step_is_offered_no_change(world: "World") -> None:
    world.services.surfaces.registry._surfaces["kiosk"] = kiosk()

    outcome = await world.ask("Book a room for me.", surface_id="kiosk")

    assert outcome["kind"] != "proposed"
    assert outcome["proposal"] is None
    assert (await world.ask("Book a room for me."))["kind"] == "proposed"


def kiosk() -> type:
    from cogni_surfaces import ChatSurface, SurfaceCapabilities

    given = {"id": "kiosk", "capabilities": SurfaceCapabilities(streaming=True)}
    return type("Kiosk", (ChatSurface,), given)
