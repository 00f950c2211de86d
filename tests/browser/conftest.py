"""The real product with its demo company, and a Chromium that looks at it through a line that tests can slow or cut."""

import asyncio
import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import urlencode

import anyio
import httpx2
import pytest
import pytest_asyncio
import uvicorn
from playwright.async_api import Browser, BrowserContext, Frame, Page, async_playwright, expect
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from cogni_surfaces import disclosed, json_line

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-features=LocalNetworkAccessChecks",
]
BROWSERS_OWN = ("google.com", "googleapis.com", "gvt1.com")
"""Where the browser itself would like to look now and then."""

AXE = (files("axe_playwright_python") / "axe.min.js").read_text()
LEVELS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]

READY_S = 240
WAIT_MS = 12_000
PASSED_ON = (
    "authorization",
    "accept",
    "accept-language",
    "content-type",
    "idempotency-key",
    "last-event-id",
)


Step: TypeAlias = tuple[str, Mapping[str, object]] | asyncio.Event
"""One event of a stream, or a gate that a test opens."""


@dataclass
class Line:
    """What lies between the browser and the product, at an address of its own.

    Attributes:
        pause_s: Waited after each event of a stream.
        held: Where set, streams stand still after their first text until it opens.
        cut_after: Events after which the next stream breaks off, once.
        expired: Whether each call is told, the first time, that its token has run out; `refused`, which were.
        told: Runs that are made up, by question; their streams are taken up again as real ones are.
        asked: The bodies of the questions that came by; `resumed`, where resumed streams went on.
        files: The frame's files, which are fetched once for all pages.
    """

    product: str
    intranet: str
    client: httpx2.AsyncClient
    address: str = ""
    pause_s: float = 0
    held: asyncio.Event | None = None
    cut_after: int | None = None
    expired: bool = False
    refused: list[str] = field(default_factory=list)
    told: dict[str, Sequence[Step]] = field(default_factory=dict)
    runs: dict[str, Sequence[Step]] = field(default_factory=dict)
    asked: list[Mapping[str, Any]] = field(default_factory=list)
    resumed: list[str] = field(default_factory=list)
    files: dict[str, tuple[bytes, dict[str, str]]] = field(default_factory=dict)

    def reset(self) -> None:
        if self.held is not None:
            self.held.set()
        self.pause_s, self.held, self.cut_after, self.expired = 0, None, None, False
        for kept in (self.refused, self.told, self.runs, self.asked, self.resumed):
            kept.clear()

    def will_answer(self, question: str, text: str, **more: object) -> None:
        """Answer a question with a text that no guard has seen, rendered as the product renders it."""
        self.will_tell(question, ("token", {"text": text}), done(text, **more))

    def will_tell(self, question: str, *steps: Step, run: str = "r1") -> None:
        """Answer a question with a run of these events, and with them alone."""
        began = ("run", {"run_ref": run, "conversation_id": "c1"})
        self.told[question] = self.runs[run] = (began, *steps)

    async def pass_on(self, request: Request) -> Response:
        raw, path = await request.body(), request.url.path
        if path.startswith("/surface/assets/") or path == "/mount.js":
            return await self._file(path)
        if self.expired and path.startswith("/v1/") and path not in self.refused:
            self.refused.append(path)
            return Response("{}", 401)
        after = request.headers.get("last-event-id")
        if after is not None:
            self.resumed.append(after)
        steps = self.runs.get(path.removeprefix("/v1/runs/").removesuffix("/events"))
        if path == "/v1/turns":
            body = json.loads(raw)
            self.asked.append(body)
            steps = self.told.get(body["message"])
        if steps is not None:
            told = self._paced(_events(steps, int(after or 0)))
            return StreamingResponse(told, media_type="text/event-stream")
        return await self._real(request, raw)

    async def _file(self, path: str) -> Response:
        if path not in self.files:
            found = await self.client.get(self.product + path)
            kept = ("content-type", "access-control-allow-origin", "cross-origin-resource-policy")
            headers = {name: found.headers[name] for name in kept if name in found.headers}
            self.files[path] = found.content, headers
        content, headers = self.files[path]
        return Response(content, 200, headers)

    async def _real(self, request: Request, raw: bytes) -> Response:
        headers = {k: v for k, v in request.headers.items() if k in PASSED_ON}
        path = request.url.path + (f"?{request.url.query}" if request.url.query else "")
        sending = self.client.build_request(
            request.method, self.product + path, headers=headers, content=raw
        )
        received = await self.client.send(sending, stream=True)
        streams = "event-stream" in received.headers.get("content-type", "")

        async def pieces() -> AsyncIterator[bytes]:
            raw = received.aiter_raw()
            try:
                async for piece in self._paced(_split(raw)) if streams else raw:
                    yield piece
            finally:
                with anyio.CancelScope(shield=True):
                    await received.aclose()

        kept = {k: v for k, v in received.headers.items() if k not in ("transfer-encoding", "date")}
        return StreamingResponse(pieces(), received.status_code, kept)

    async def _paced(self, events: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        count = 0
        async for event in events:
            if self.cut_after is not None and count >= self.cut_after:
                self.cut_after = None
                raise ConnectionResetError("cut by the test")
            yield event
            count += 1
            if self.held is not None and b"event: token" in event:
                await self.held.wait()
            await asyncio.sleep(self.pause_s)


async def _split(pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    held = b""
    async for piece in pieces:
        *events, held = (held + piece).split(b"\n\n")
        for event in events:
            yield event + b"\n\n"


async def _events(steps: Sequence[Step], after: int) -> AsyncIterator[bytes]:
    number = 0
    for step in steps:
        if isinstance(step, asyncio.Event):
            await step.wait()
            continue
        number += 1
        if number > after:
            name, data = step
            yield f"id: {number}\nevent: {name}\ndata: {json_line(data)}\n\n".encode()


def done(text: str, **more: object) -> Step:
    """Return the last event of a run, as the product renders it; `more` is of its outcome."""
    outcome: dict[str, object] = {
        "run_ref": "r1",
        "conversation_id": "c1",
        "kind": "completed",
        "text": text,
    }
    outcome |= {"citations": [], "markers": [], "proposal": None, "indexed_through": None}
    outcome |= {"reason": None, "message": None, **more}
    return "failed" if outcome["kind"] == "failed" else "done", {"outcome": disclosed(outcome)}


Open = Callable[..., Any]


@dataclass
class Chat:
    """The surface as a person has it before them, mounted in a page of an allowed host."""

    page: Page
    line: Line
    errors: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))

    async def tab(self) -> "Chat":
        """Open the same page beside this one, in the same browser."""
        other = Chat(await self.page.context.new_page(), self.line)
        await other.page.goto(self.page.url)
        await other.ready()
        return other

    @property
    def frame(self) -> Frame:
        return self.page.frames[1]

    @property
    def composer(self) -> Any:
        return self.frame.locator("#message")

    async def ready(self) -> None:
        await self.frame.locator("html[data-ready]").wait_for(state="attached", timeout=WAIT_MS)

    async def begin(self, question: str) -> None:
        """Ask, and wait until the answer is under way."""
        await self.composer.fill(question)
        await self.composer.press("Enter")
        await expect(self.frame.locator("article").last).to_contain_text(question)

    async def ask(self, question: str) -> Any:
        """Ask; return the finished turn."""
        await self.begin(question)
        return await self.finished()

    async def finished(self) -> Any:
        turn = self.frame.locator("article").last
        await expect(turn.locator(".actions button, .note button").first).to_be_visible(
            timeout=WAIT_MS
        )
        return turn


@pytest.fixture(scope="session")
def data_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("browser") / "data"


@pytest.fixture(scope="session")
def product(data_folder: Path) -> Iterator[str]:
    """Start the product; return its address. The intranet is at the next port."""
    if CHROMIUM is None:
        pytest.skip("there is no system Chromium here; `make chromium` installs it")
    cogni, where = (sys.executable, "-m", "cogni_embedded"), ("--data", str(data_folder))
    subprocess.run([*cogni, "migrate", *where], check=True, stdout=subprocess.DEVNULL)
    port = two_ports()
    quiet = {k: v for k, v in os.environ.items() if not k.startswith(("OPENAI_", "ANTHROPIC_"))}
    with (data_folder.parent / "log").open("wb") as log:
        running = subprocess.Popen(
            [*cogni, "run", *where, "--port", str(port)], stdout=log, stderr=log, env=quiet
        )
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        running.terminate()
        running.wait(30)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def session_line(product: str) -> AsyncIterator[Line]:
    host, _, port = product.rpartition(":")
    client = httpx2.AsyncClient(timeout=60, trust_env=False)
    line = Line(product, f"{host}:{int(port) + 1}", client)
    async with asyncio.timeout(READY_S):
        while not await _answers(client, f"{product}/readyz"):
            await asyncio.sleep(0.2)
    app = Starlette(routes=[Route("/{path:path}", line.pass_on, methods=["GET", "POST", "DELETE"])])
    listening = socket.create_server(("127.0.0.1", 0))
    line.address = f"http://127.0.0.1:{listening.getsockname()[1]}"
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", ws="none"))
    serving = asyncio.create_task(server.serve([listening]))
    yield line
    server.should_exit = server.force_exit = True
    await serving
    await client.aclose()


@pytest.fixture
def line(session_line: Line) -> Iterator[Line]:
    yield session_line
    session_line.reset()


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def trap() -> AsyncIterator[list[str]]:
    """Every name but this machine's own leads here; whoever comes is noted."""
    caught: list[str] = []

    async def note(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        caught.append(repr(await reader.read(200)))
        writer.close()

    server = await asyncio.start_server(note, "127.0.0.1", 0)
    caught.append(str(server.sockets[0].getsockname()[1]))
    yield caught
    server.close()


@pytest.fixture(scope="session")
def own_home(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str | float | bool]:
    """Return an environment in which a browser keeps its things in a folder that goes with the tests."""
    home = str(tmp_path_factory.mktemp("home"))
    names = ("HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME")
    return {**os.environ, **dict.fromkeys(names, home)}


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def chromium(
    product: str, trap: list[str], own_home: Mapping[str, str | float | bool]
) -> AsyncIterator[Browser]:
    port = trap.pop()
    own = "".join(f"MAP *.{name} ~NOTFOUND, " for name in BROWSERS_OWN)
    rules = f"--host-resolver-rules={own}MAP * 127.0.0.1:{port}, EXCLUDE 127.0.0.1"
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=CHROMIUM, args=[*ARGUMENTS, rules], env=dict(own_home)
        )
        yield browser
        await browser.close()


@pytest_asyncio.fixture(loop_scope="session")
async def open_chat(chromium: Browser, line: Line) -> AsyncIterator[Open]:
    """Open the surface: `await open_chat(width=360, person="engineer", placement="launcher", …)`."""
    async with _Contexts(chromium, line) as contexts:
        yield contexts.open


Serious = Callable[[Chat], Awaitable[list[str]]]


@pytest.fixture
def serious() -> Serious:
    """Return a function that returns what axe finds serious, or worse, in the frame."""

    async def found(chat: Chat) -> list[str]:
        await chat.frame.evaluate(AXE)
        all_of_it = await chat.frame.evaluate(
            "tags => axe.run(document, {runOnly: {type: 'tag', values: tags}})", LEVELS
        )
        return [
            f"{each['id']}: {each['nodes'][0]['html'][:200]}"
            for each in all_of_it["violations"]
            if each["impact"] in ("serious", "critical")
        ]

    return found


class _Contexts:
    def __init__(self, browser: Browser, line: Line) -> None:
        self._browser, self._line = browser, line
        self._made: list[BrowserContext] = []

    async def __aenter__(self) -> "_Contexts":
        return self

    async def __aexit__(self, *_: object) -> None:
        for context in self._made:
            await context.close()

    async def open(
        self,
        width: int = 1440,
        person: str = "hr-lead",
        script: str = "",
        init: str = "",
        scheme: str = "light",
        **config: object,
    ) -> Chat:
        """Mount it in a host page; `script` runs in that page, `init` before anything in every frame."""
        height = 740 if width < 500 else 900
        context = await self._browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme="dark" if scheme == "dark" else "light",
        )
        self._made.append(context)
        if init:
            await context.add_init_script(init)
        await context.add_cookies([{"name": "person", "value": person, "url": self._line.intranet}])
        page = await context.new_page()
        chat = Chat(page, self._line)
        document = host_document(self._line.address, script, config)
        await context.route(
            f"{self._line.intranet}/mounted?*",
            lambda route: route.fulfill(body=document, content_type="text/html"),
        )
        await page.goto(f"{self._line.intranet}/mounted?{urlencode({'person': person})}")
        if config.get("placement") != "launcher":
            await chat.ready()
        return chat


def host_document(product: str, script: str, config: Mapping[str, object]) -> str:
    """Return a host page that mounts the surface; its token comes from the intranet."""
    given = {"surface_id": "chat", "key_id": "demo-acme", "locale": "en", **config}
    return f"""<!doctype html><html lang="en"><title>Host</title><meta name="viewport" content="width=device-width">
<body style="margin:0;height:100vh"><div id="place" style="height:100%"></div>
<script src="{product}/mount.js"></script><script>
{script}
window.mounted = CogniBuild.mount("#place", {{...{json.dumps(given)}, principal_token: async () => (await fetch("/host-token")).text()}});
</script>"""


def two_ports() -> int:
    """Return a port that is free, as is the next."""
    for _ in range(100):
        with socket.create_server(("127.0.0.1", 0)) as first:
            port: int = first.getsockname()[1]
            try:
                with socket.create_server(("127.0.0.1", port + 1)):
                    return port
            except OSError:
                continue
    raise RuntimeError("no two free ports side by side")


async def _answers(client: httpx2.AsyncClient, address: str) -> bool:
    try:
        return (await client.get(address)).status_code == 200
    except httpx2.TransportError:
        return False
