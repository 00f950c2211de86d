from typing import TYPE_CHECKING

import pytest

from cogni_edge.http import Edge

if TYPE_CHECKING:
    from tests.edge.conftest import World


async def test_the_process_says_that_it_runs(world: "World") -> None:
    answer = await world.call("GET", "/healthz", None)

    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})


async def test_it_is_ready_once_a_question_would_be_answered(world: "World") -> None:
    world.unready = "Still reading documents: 7 so far. Try again soon."
    before = await world.call("GET", "/readyz", None)
    world.unready = None
    after = await world.call("GET", "/readyz", None)

    assert (before.status_code, before.headers["retry-after"]) == (503, "5")
    assert before.json() == {
        "type": "about:blank",
        "title": "Still reading documents: 7 so far. Try again soon.",
        "status": 503,
    }
    assert (after.status_code, after.json()) == (200, {"status": "ready"})


async def test_requests_are_counted_by_route_and_never_by_what_they_name(world: "World") -> None:
    await world.call("GET", "/v1/conversations/secret-name")
    await world.call("GET", "/secret-name")

    metrics = await world.call("GET", "/metrics", None)

    assert metrics.headers["content-type"].startswith("text/plain")
    counted = 'cogni_http_requests_total{route="/v1/conversations/{conversation_id}",status="404"}'
    assert counted in metrics.text
    assert "secret-name" not in metrics.text


@pytest.mark.parametrize(
    "path", ["/healthz", "/readyz", "/metrics", "/openapi.json", "/v1/conversations"]
)
async def test_nothing_is_kept_by_a_cache(world: "World", path: str) -> None:
    answer = await world.call("GET", path)

    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["x-content-type-options"] == "nosniff"


async def test_a_bug_is_told_by_its_number_alone(
    world: "World", monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def breaks(*_: object) -> None:
        raise RuntimeError("password=hunter2")

    monkeypatch.setattr(type(world.services.transcripts), "conversations", breaks)

    answer = await world.call("GET", "/v1/conversations")

    assert answer.status_code == 500
    assert set(answer.json()) == {"type", "title", "status"}
    assert "hunter2" not in answer.text
    reference = answer.json()["title"].rpartition(" ")[2].rstrip(".")
    assert reference in caplog.text


async def test_a_head_request_is_answered_without_a_body(world: "World") -> None:
    run = (await world.ask())["run_ref"]

    for path in ("/healthz", f"/v1/runs/{run}/events"):
        assert (await world.call("HEAD", path)).status_code == 200


def test_every_handler_says_what_it_is_for() -> None:
    handlers = [name for name in vars(Edge) if name.startswith(("get_", "post_"))]

    assert len(handlers) == 9
    assert all(getattr(Edge, name).__doc__ for name in handlers)
