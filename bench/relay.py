"""A thousand answers at once: the log's commit included, against a bare Starlette that writes every delta by itself.

Both servers run on asyncio and h11. What speaks is a provider's pace: a delta every `PACE_S`, each carrying the time
at which it was said. What that pretence costs by itself is measured with nobody told, and left out of both.
"""

import asyncio
import json
import os
import re
import resource
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from statistics import median

import httpx2
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from cogni_application.turn.ground import Evidence
from cogni_application.turn.streams import RunStreams
from cogni_application.turn.voice import RunVoice
from cogni_domain.governance.output_policy import OutputPolicy
from cogni_domain.knowledge.citations import Unissued
from cogni_domain.ports.run_log import RunLogPort
from cogni_edge.server import EdgeServer
from cogni_edge.streaming import event_stream
from cogni_engine import Emitter, TokenDelta
from cogni_kernel import Ok, RunRef
from cogni_runtime.bindings import embedded, migrate
from cogni_surfaces import View
from cogni_testing.contracts.runs import an_opening
from cogni_testing.doubles import START

STREAMS = 1000
DELTAS = 50
PACE_S = 0.004
SPREAD_S = 2.0
"""Answers begin within so long, one after another."""

FIRST_MS = 20.0
FRAME_MS = 40.0
CPU_LIMIT = 1 / 3
STAMP = re.compile(rb"(\d{12,})~")

Say = Callable[[int], Awaitable[None]]


def run() -> Iterator[dict[str, object]]:
    """Measure one stream alone, then all of them, on both servers."""
    alone = asyncio.run(_measured("grounded", 20, spread_s=4.0))
    ours = asyncio.run(_measured("cogni", STREAMS, spread_s=SPREAD_S))
    bare = asyncio.run(_measured("starlette", STREAMS, spread_s=SPREAD_S))
    nobody = asyncio.run(_measured("silent", STREAMS, spread_s=SPREAD_S))
    cpu_us, bare_us = ours["cpu_us"] - nobody["cpu_us"], bare["cpu_us"] - nobody["cpu_us"]
    yield {
        "figure": "first_delta",
        "streams": 1,
        "p50_ms": alone["first_p50_ms"],
        "p99_ms": alone["first_p99_ms"],
        "ratio_limit": round(alone["first_p99_ms"] / FIRST_MS, 3),
    }
    yield {
        "figure": "first_delta",
        "streams": STREAMS,
        "p50_ms": ours["first_p50_ms"],
        "p99_ms": ours["first_p99_ms"],
        "ratio_limit": round(ours["first_p99_ms"] / FIRST_MS, 3),
    }
    yield {
        "figure": "frame",
        "streams": STREAMS,
        "deltas_per_write": ours["deltas_per_write"],
        "p50_ms": ours["p50_ms"],
        "p99_ms": ours["p99_ms"],
        "ratio_limit": round(ours["p99_ms"] / FRAME_MS, 3),
    }
    yield {
        "figure": "cpu_per_delta",
        "streams": STREAMS,
        "lost": ours["lost"],
        "cpu_us": round(cpu_us, 2),
        "starlette_cpu_us": round(bare_us, 2),
        "pretence_cpu_us": nobody["cpu_us"],
        "ratio_starlette": round(cpu_us / bare_us, 3),
        "ratio_limit": round(cpu_us / bare_us / CPU_LIMIT, 3),
    }
    yield {
        "figure": "memory_per_idle_stream",
        "kib": ours["idle_kib"],
        "starlette_kib": bare["idle_kib"],
        "ratio_starlette": round(ours["idle_kib"] / bare["idle_kib"], 3),
    }


class _Reader(asyncio.Protocol):
    """Keeps what comes, and when."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.received: list[tuple[int, bytes]] = []
        self.stamps = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        transport.write(b"GET /s?n=%d HTTP/1.1\r\nhost: x\r\n\r\n" % self.number)

    def data_received(self, data: bytes) -> None:
        self.received.append((time.monotonic_ns(), data))
        self.stamps += data.count(b"~")

    def latencies_ms(self) -> list[float]:
        """Return how long after it was said each delta was here."""
        return [
            (at - int(said)) / 1e6 for at, data in self.received for said in STAMP.findall(data)
        ]

    def writes(self) -> int:
        return sum(b"~" in data for _, data in self.received)


async def _measured(kind: str, streams: int, spread_s: float) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder, socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        port = held.getsockname()[1]
        held.close()
        words = [sys.executable, "-m", "bench.relay", kind, str(port), folder, str(streams)]
        with subprocess.Popen(words, stdout=subprocess.DEVNULL) as server:
            try:
                address = f"http://127.0.0.1:{port}"
                heard = kind != "silent"
                return await _read_all(address, port, streams, spread_s, is_heard=heard)
            finally:
                server.kill()


async def _read_all(
    address: str, port: int, streams: int, spread_s: float, *, is_heard: bool
) -> dict[str, float]:
    loop = asyncio.get_running_loop()
    async with httpx2.AsyncClient(base_url=address, trust_env=False, timeout=60) as client:
        await _until_up(client)
        before = (await client.get("/usage")).json()
        readers: list[_Reader] = []
        for first in range(0, streams, 50):
            made = [_Reader(n) for n in range(first, min(first + 50, streams))]
            for reader in made:
                await loop.create_connection(lambda r=reader: r, "127.0.0.1", port)  # type: ignore[misc]
            readers += made
        await asyncio.sleep(1.0)
        idle = (await client.get("/usage")).json()
        spoken = (await client.get("/go", params={"spread_s": spread_s})).json()
        await asyncio.sleep(spread_s + DELTAS * PACE_S + 1)
        wanted, give_up = streams * DELTAS * is_heard, time.monotonic() + 20
        while sum(r.stamps for r in readers) < wanted and time.monotonic() < give_up:
            await asyncio.sleep(0.1)
        after = (await client.get("/usage")).json()
    return _figures(readers, before, idle, spoken, after)


def _figures(
    readers: list[_Reader],
    before: dict[str, float],
    idle: dict[str, float],
    spoken: dict[str, float],
    after: dict[str, float],
) -> dict[str, float]:
    by_reader = [r.latencies_ms() for r in readers]
    first = sorted(found[0] for found in by_reader if found) or [0.0]
    rest = sorted(each for found in by_reader for each in found[1:]) or [0.0]
    deltas = len(readers) * DELTAS
    return {
        "lost": deltas - sum(map(len, by_reader)),
        "first_p50_ms": round(median(first), 2),
        "first_p99_ms": round(first[int(len(first) * 0.99)], 2),
        "p50_ms": round(median(rest), 2),
        "p99_ms": round(rest[int(len(rest) * 0.99)], 2),
        "deltas_per_write": round(deltas / max(1, sum(r.writes() for r in readers)), 2),
        "cpu_us": round(1e6 * (after["cpu_s"] - spoken["cpu_s"]) / deltas, 2),
        "idle_kib": round((idle["rss_kib"] - before["rss_kib"]) / len(readers), 1),
    }


async def _until_up(client: httpx2.AsyncClient) -> None:
    for _ in range(600):
        try:
            await client.get("/usage")
        except httpx2.TransportError:
            await asyncio.sleep(0.1)
        else:
            return
    raise RuntimeError("the server did not come up")


def _usage() -> dict[str, float]:
    used = resource.getrusage(resource.RUSAGE_SELF)
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    rss_kib = pages * os.sysconf("SC_PAGE_SIZE") / 1024
    return {"cpu_s": used.ru_utime + used.ru_stime, "rss_kib": rss_kib}


async def _speak(say: Callable[[str], None], begins_s: float) -> None:
    """Say what a provider says, at its pace."""
    loop = asyncio.get_running_loop()
    at = loop.time() + begins_s
    for n in range(DELTAS):
        await asyncio.sleep(max(0.0, at + n * PACE_S - loop.time()))
        say(f"{time.monotonic_ns()}~ ")


def _routes(
    stream: Callable[[int], Response], say: Callable[[int], Callable[[str], None]], streams: int
) -> list[Route]:
    speaking: list[asyncio.Task[None]] = []

    async def go(request: Request) -> Response:
        apart = float(request.query_params["spread_s"]) / streams
        used = _usage()
        speaking.extend(asyncio.create_task(_speak(say(n), n * apart)) for n in range(streams))
        return JSONResponse(used)

    async def subscribe(request: Request) -> Response:
        return stream(int(request.query_params["n"]))

    async def usage(_: Request) -> Response:
        return JSONResponse(_usage())

    return [Route("/s", subscribe), Route("/go", go), Route("/usage", usage)]


async def _cogni(listening: socket.socket, folder: Path, streams: int, *, grounded: bool) -> None:
    """Serve runs as the product does: verified, committed, then written to whoever follows."""
    if not isinstance(migrate(folder), Ok):
        raise RuntimeError("the database could not be made")
    log = embedded(folder, {}).container.resolve(RunLogPort)
    runs = RunStreams(log, on_lost=lambda run: sys.exit(f"{run} was lost"))
    for n in range(streams):
        opened = await log.open(an_opening(f"r{n}", f"c{n}"), "bench", START, [])
        assert isinstance(opened, Ok)
        runs.begin(RunRef(f"r{n}"), opened.value.epoch)
    evidence = Evidence(lambda _: Unissued.UNISSUED, lambda _: False, frozenset)

    def say(n: int) -> Callable[[str], None]:
        run = RunRef(f"r{n}")
        if not grounded:
            return lambda text: runs.publish(run, TokenDelta(text))
        voice = RunVoice(
            lambda delta: runs.publish(run, delta),
            lambda step: runs.record(run, step),
            evidence,
            lambda: True,
            OutputPolicy(),
        )
        return Emitter(voice.hear).emit_token

    def stream(n: int) -> Response:
        return event_stream(runs.follow(RunRef(f"r{n}"), 0), View())

    async def drain() -> None:
        return

    writing = asyncio.create_task(runs.write())
    app = Starlette(routes=_routes(stream, say, streams))
    await EdgeServer(app, drain).serve([listening])
    writing.cancel()


async def _bare(listening: socket.socket, streams: int, *, is_silent: bool) -> None:
    """Serve what is said as it is said: one write for each delta, or none at all."""
    queues: list[asyncio.Queue[str]] = [asyncio.Queue() for _ in range(streams)]

    async def events(n: int) -> AsyncIterator[bytes]:
        cursor = 0
        while True:
            text = await queues[n].get()
            cursor += 1
            data = json.dumps({"text": text})
            yield f"id: {cursor}\nevent: token\ndata: {data}\n\n".encode()

    def stream(n: int) -> Response:
        return StreamingResponse(events(n), media_type="text/event-stream")

    def say(n: int) -> Callable[[str], None]:
        return (lambda _: None) if is_silent else queues[n].put_nowait

    app = Starlette(routes=_routes(stream, say, streams))
    config = uvicorn.Config(app, log_level="error", ws="none", loop="asyncio", http="h11")
    await uvicorn.Server(config).serve([listening])


def main(kind: str, port: str, folder: str, streams: str) -> None:
    """Be the server of one kind."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 8192)), hard))
    listening = socket.create_server(("127.0.0.1", int(port)), backlog=2048)
    listening.setblocking(False)
    if kind in ("starlette", "silent"):
        asyncio.run(_bare(listening, int(streams), is_silent=kind == "silent"))
    else:
        grounded = kind == "grounded"
        asyncio.run(_cogni(listening, Path(folder), int(streams), grounded=grounded))


if __name__ == "__main__":
    main(*sys.argv[1:])
