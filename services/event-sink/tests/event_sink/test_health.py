from datetime import datetime, timedelta

import httpx2
import pytest

from cogni_event_sink.health import Health, health_app
from cogni_kernel import Err, HumanText, Ok, Result, UpstreamError
from cogni_testing.doubles import START


class Process:
    """What is asked of a process, as a test sets it."""

    def __init__(self) -> None:
        self.reason: str | None = None
        self.since: Result[datetime | None] = Ok(None)

    async def why_not(self) -> str | None:
        return self.reason

    async def waiting_since(self) -> Result[datetime | None]:
        return self.since

    async def get(self, path: str) -> httpx2.Response:
        app = health_app(Health(self.why_not, self.waiting_since, lambda: START))
        transport = httpx2.ASGITransport(app)
        async with httpx2.AsyncClient(transport=transport, base_url="http://sink") as client:
            return await client.get(path)


@pytest.fixture
def process() -> Process:
    return Process()


async def test_a_process_that_runs_is_healthy_even_where_it_is_not_ready(process: Process) -> None:
    process.reason = "The database did not answer."

    assert (await process.get("/healthz")).status_code == 200
    answer = await process.get("/readyz")

    assert (answer.status_code, answer.json()["reason"]) == (503, process.reason)


async def test_a_ready_process_says_so(process: Process) -> None:
    assert (await process.get("/readyz")).json() == {"status": "ready"}


@pytest.mark.parametrize(
    ("since", "seconds"), [(None, "0.0"), (START - timedelta(minutes=2), "120.0")]
)
async def test_how_long_the_oldest_event_waits_is_measured(
    process: Process, since: datetime | None, seconds: str
) -> None:
    process.since = Ok(since)

    answer = await process.get("/metrics")

    assert f"cogni_outbox_oldest_seconds {seconds}\n" in answer.text


async def test_no_figure_is_made_up_where_the_database_does_not_answer(process: Process) -> None:
    process.since = Err(UpstreamError(HumanText("The database did not answer.")))

    assert (await process.get("/metrics")).status_code == 503
