"""The process itself: it serves, drains, refuses another schema, and loses nothing when it is killed."""

import asyncio
import json
import os
import signal
import socket
import sys
from asyncio.subprocess import PIPE, Process
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx2
import pytest

from cogni_adapters.system.clock import SystemClockAdapter
from cogni_domain.events import BudgetThreshold
from cogni_kernel import TenantId
from cogni_testing import ok
from tests.servers.endpoints import Answer, Received, endpoints

KILLS = 3
TO_LOOPBACK = """
import sys
from cogni_domain.subscriptions_endpoint import EndpointPolicy
from cogni_runtime import bindings

bind = bindings.bind_events
bindings.bind_events = lambda c, d, k, _: bind(c, d, k, EndpointPolicy(allow_loopback=True))
from cogni_event_sink.__main__ import main

sys.exit(main())
"""
"""The process as it is, but for the one rule that keeps it from this machine."""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


async def started(url: str, key: Path, *program: str) -> tuple[Process, int]:
    port = free_port()
    environment = {
        **os.environ,
        "COGNI_EVENT_SINK_DATABASE_URL": url,
        "COGNI_EVENT_SINK_KEY_FILE": str(key),
        "COGNI_EVENT_SINK_PORT": str(port),
    }
    words = program or ("-m", "cogni_event_sink")
    process = await asyncio.create_subprocess_exec(
        sys.executable, *words, env=environment, stdout=PIPE, stderr=PIPE
    )
    return process, port


@pytest.fixture
def key(tmp_path: Path) -> Path:
    path = tmp_path / "key"
    path.write_text((b"k" * 32).hex())
    return path


async def until_ready(port: int) -> None:
    async with asyncio.timeout(60), httpx2.AsyncClient(trust_env=False) as client:
        while True:
            try:
                if (await client.get(f"http://127.0.0.1:{port}/readyz")).status_code == 200:
                    return
            except httpx2.TransportError:
                pass
            await asyncio.sleep(0.05)


async def test_it_serves_until_it_is_told_to_stop_and_logs_json(url: str, key: Path) -> None:
    process, port = await started(url, key)
    await until_ready(port)

    process.send_signal(signal.SIGTERM)
    _, said = await asyncio.wait_for(process.communicate(), 60)

    assert process.returncode == 0, said
    lines = [json.loads(line) for line in said.decode().splitlines()]
    assert [line["event"] for line in lines if line["event"].startswith("event-sink")] == [
        "event-sink serves",
        "event-sink has ended",
    ]


async def test_it_refuses_a_database_without_a_schema(tmp_path: Path, key: Path) -> None:
    process, _ = await started(f"sqlite:///{tmp_path}/new.db", key)

    _, said = await asyncio.wait_for(process.communicate(), 60)

    assert process.returncode == 1
    assert said.decode().strip().endswith("Run: cogni migrate")
    assert len(said.decode().splitlines()) == 1


def window(request: Received) -> str:
    found: str = json.loads(request.body)["data"]["window"]
    return found


async def test_an_attempt_that_runs_is_ended_before_the_process_is(
    url: str, key: Path, outside: Any
) -> None:
    house = outside(SystemClockAdapter())
    async with endpoints() as server:
        await house.subscribed(server.answering(Answer(after_s=1.0)), "BudgetThreshold")
        await house.write([BudgetThreshold(TenantId("acme"), "w1", 1)])
        process, _ = await started(url, key, "-c", TO_LOOPBACK)
        async with asyncio.timeout(60):
            while not server.received:
                await asyncio.sleep(0.02)
        process.send_signal(signal.SIGTERM)
        await asyncio.wait_for(process.communicate(), 60)

    assert process.returncode == 0
    assert len(server.received) == 1
    later = house.clock.now() + timedelta(days=1)
    assert ok(await house.deliveries.take(later, timedelta(seconds=60), 4)) == []


@pytest.mark.slow
async def test_killed_again_and_again_it_loses_nothing(url: str, key: Path, outside: Any) -> None:
    house = outside(SystemClockAdapter())
    got: list[Received] = []

    def take(request: Received) -> Answer:
        got.append(request)
        return Answer(after_s=0.002)

    async with endpoints() as server:
        await house.subscribed(server.answering(take), "BudgetThreshold")
        for kill in range(KILLS):
            new = [BudgetThreshold(TenantId("acme"), f"w{kill}.{n}", n) for n in range(60)]
            before = len(got)
            process, _ = await started(url, key, "-c", TO_LOOPBACK)
            await house.write(new)
            async with asyncio.timeout(60):
                while len(got) < before + 7 * (kill + 1):
                    await asyncio.sleep(0.001)
            process.kill()
            await process.communicate()
            await house.expire_leases()
        process, _ = await started(url, key, "-c", TO_LOOPBACK)
        async with asyncio.timeout(100):
            while len({window(request) for request in got}) < KILLS * 60:
                await asyncio.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        await process.communicate()

    ids = [request.headers["webhook-id"] for request in got]
    assert len(set(ids)) == KILLS * 60
    assert len({request.body for request in got}) == KILLS * 60
    assert len(ids) - len(set(ids)) <= KILLS * 4
