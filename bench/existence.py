"""Absent or forbidden: whether the time that a 404 takes tells which; the area under the curve is 0.5 where it does not.

The first of each pair is somebody else's, the second never was. A canary that takes 200 µs longer for the first
must be told apart, or the measurement proves nothing.
"""

import asyncio
import os
import random
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from statistics import median

import httpx2

from cogni_edge import answering
from cogni_edge.http import create_app
from cogni_embedded.asking import token_of
from cogni_embedded.background import Background
from cogni_embedded.bootstrap import Product, build
from cogni_embedded.data_folder import DataFolder
from cogni_embedded.ingesting import work_off
from cogni_embedded.readiness import Readiness
from cogni_embedded.serving import edge_services, prepare
from cogni_kernel import Ok
from cogni_runtime.bindings import embedded, migrate
from cogni_testing import ok

PAIRS = 160
LEAK_S = 200e-6
SIGMAS = 5.0
QUESTION = {"message": "How much parental leave do I get?"}
BOOK = {"message": "Please book annual leave for me from 2027-02-01 to 2027-02-02."}
ABSENT = "0" * 32

Call = tuple[str, str]


def run() -> Iterator[dict[str, object]]:
    with tempfile.TemporaryDirectory() as folder:
        yield from asyncio.run(_figures(Path(folder)))


async def _figures(data: Path) -> list[dict[str, object]]:
    ok(migrate(data))
    product = build(embedded(data, os.environ))
    ok(await prepare(product, ()))
    with DataFolder(data) as held:
        ok(held.hold())
        ok(await work_off(product, held, lambda _: None))
        async with _clients(product) as (owner, other):
            surfaces = await _surfaces(owner)
            found = [await _surface(other, name, *pair) for name, pair in surfaces.items()]
            found.append(await _canary(other, *surfaces["citation"]))
            answering.FLOOR_S = 0.0
            found.append(await _surface(other, "citation without the floor", *surfaces["citation"]))
    return found


@asynccontextmanager
async def _clients(
    product: Product,
) -> AsyncIterator[tuple[httpx2.AsyncClient, httpx2.AsyncClient]]:
    """Yield clients of the person whose things they are, and of somebody else."""
    services = edge_services(product, lambda: Ok(None), Readiness(product).why_not)
    transport = httpx2.ASGITransport(create_app(services, _nothing), client=("127.0.0.1", 1))
    background = Background(product)
    background.start()
    clients = []
    for name in ("engineer", "support"):
        token = ok(await token_of(product, product.demo.people.person(name).account))
        headers = {"Authorization": f"Bearer {token}"}
        clients.append(
            httpx2.AsyncClient(transport=transport, base_url="http://edge", headers=headers)
        )
    yield clients[0], clients[1]
    await background.stop()


@asynccontextmanager
async def _nothing(_: object) -> AsyncIterator[None]:
    yield


async def _surfaces(owner: httpx2.AsyncClient) -> Mapping[str, tuple[Call, Call]]:
    outcome = (await owner.post("/v1/turns", json=QUESTION, timeout=60)).json()
    proposed = (await owner.post("/v1/turns", json=BOOK, timeout=60)).json()
    run, conversation = outcome["run_ref"], outcome["conversation_id"]
    proposal = proposed["proposal"]["id"]
    return {
        "citation": (
            ("GET", f"/v1/runs/{run}/citations/s1"),
            ("GET", f"/v1/runs/{ABSENT}/citations/s1"),
        ),
        "events": (("GET", f"/v1/runs/{run}/events"), ("GET", f"/v1/runs/{ABSENT}/events")),
        "conversation": (
            ("GET", f"/v1/conversations/{conversation}"),
            ("GET", f"/v1/conversations/{ABSENT}"),
        ),
        "proposal": (
            ("POST", f"/v1/proposals/{proposal}/accept"),
            ("POST", f"/v1/proposals/{ABSENT}/accept"),
        ),
    }


async def _surface(
    client: httpx2.AsyncClient, name: str, there: Call, nowhere: Call
) -> dict[str, object]:
    area, gap = await _told_apart(client, there, nowhere, leak_s=0.0)
    limit = SIGMAS / (6 * PAIRS) ** 0.5
    return {
        "surface": name,
        "pairs": PAIRS,
        "area": round(area, 3),
        "median_gap_us": round(gap * 1e6, 1),
        "ratio_limit": round(abs(area - 0.5) / limit, 3),
    }


async def _canary(client: httpx2.AsyncClient, there: Call, nowhere: Call) -> dict[str, object]:
    area, gap = await _told_apart(client, there, nowhere, leak_s=LEAK_S)
    return {"surface": "canary", "area": round(area, 3), "median_gap_us": round(gap * 1e6, 1)}


async def _told_apart(
    client: httpx2.AsyncClient, there: Call, nowhere: Call, leak_s: float
) -> tuple[float, float]:
    """Return the area under the curve, and by how much the medians differ in seconds."""
    times: dict[Call, list[float]] = {there: [], nowhere: []}
    order = random.Random(1)
    bodies = set()
    for _ in range(PAIRS):
        for call in order.sample([there, nowhere], 2):
            began = time.perf_counter()
            answer = await client.request(*call)
            if call is there and leak_s:
                _busy(leak_s)
            times[call].append(time.perf_counter() - began)
            bodies.add((answer.status_code, answer.content))
    assert len(bodies) == 1, bodies
    return _area(times[there], times[nowhere]), median(times[there]) - median(times[nowhere])


def _busy(seconds: float) -> None:
    until = time.perf_counter() + seconds
    while time.perf_counter() < until:
        pass


def _area(longer: Sequence[float], shorter: Sequence[float]) -> float:
    """Return how likely one of `longer` exceeds one of `shorter`, by Mann and Whitney."""
    ranked = sorted([(t, 1) for t in longer] + [(t, 0) for t in shorter])
    ranks = sum(place for place, (_, of_longer) in enumerate(ranked, 1) if of_longer)
    n = len(longer)
    return (ranks - n * (n + 1) / 2) / (n * len(shorter))
