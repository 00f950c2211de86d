"""The chat surface on a slow line: bytes sent, and the time until something is on the screen.

`ratio_limit` is the figure over its limit: below 1 is good.
"""

import asyncio
import contextlib
import shutil
import socket
from collections.abc import AsyncIterator, Iterator
from statistics import median

import uvicorn
from playwright.async_api import Browser, async_playwright
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Route

from cogni_surfaces import WebFile, web_asset, web_frame, web_mount
from cogni_surfaces.web_files import WEB

LIMIT_BYTES = 60_000
LIMIT_MS = 1000
LINE = {
    "offline": False,
    "latency": 150,
    "downloadThroughput": 1.6e6 / 8,
    "uploadThroughput": 0.75e6 / 8,
}
ROUNDS = 5
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-features=LocalNetworkAccessChecks"]


def run() -> Iterator[dict[str, object]]:
    """Measure; without a Chromium the size alone."""
    size = transfer_size()
    yield {"figure": "transfer", "bytes": size, "ratio_limit": round(size / LIMIT_BYTES, 3)}
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is not None:
        painted = asyncio.run(first_paint(chromium))
        yield {
            "figure": "first_paint",
            "ms": round(painted),
            "rounds": ROUNDS,
            "ratio_limit": round(painted / LIMIT_MS, 3),
        }


def transfer_size() -> int:
    """Return the bytes of the frame, its files and the mount script, compressed as edge sends them."""
    files = [web_frame(), web_mount(), *(web_asset(path.name) for path in sorted(WEB.iterdir()))]
    return sum(len(file.zipped) for file in {f.etag: f for f in files if f is not None}.values())


async def first_paint(chromium: str) -> float:
    """Return the median of the first contentful paint, in ms, with nothing in the cache."""
    async with serving() as address, async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        times = [await _painted(browser, f"{address}/surface/demo-acme") for _ in range(ROUNDS)]
        await browser.close()
        return median(times)


async def _painted(browser: Browser, address: str) -> float:
    context = await browser.new_context(viewport={"width": 360, "height": 740})
    page = await context.new_page()
    session = await context.new_cdp_session(page)
    await session.send("Network.enable")
    await session.send("Network.emulateNetworkConditions", LINE)
    await page.goto(address)
    script = """() => new Promise(done => new PerformanceObserver(list => {
        const found = list.getEntriesByName("first-contentful-paint")[0];
        if (found) done(found.startTime);
    }).observe({type: "paint", buffered: true}))"""
    painted: float = await page.evaluate(script)
    await context.close()
    return painted


@contextlib.asynccontextmanager
async def serving() -> AsyncIterator[str]:
    """Serve the surface's files as edge does, without the product behind them."""
    routes = [
        Route(
            "/surface/assets/{name}", lambda request: _sent(web_asset(request.path_params["name"]))
        ),
        Route("/surface/{key_id}", lambda _: _sent(web_frame())),
    ]
    listening = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(Starlette(routes=routes), log_level="error"))
    task = asyncio.create_task(server.serve([listening]))
    yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    server.should_exit = True
    await task


def _sent(file: WebFile | None) -> Response:
    if file is None:
        return Response(None, 404)
    headers = {"Content-Encoding": "gzip", "Cache-Control": "no-cache", "ETag": file.etag}
    return Response(file.zipped, 200, headers, media_type=file.media_type)
