"""Who may hold the assistant in a page: the demo's intranet, a second host on the list, and no third."""

import random
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Literal

import httpx2
import pytest
from axe_playwright_python.async_playwright import Axe
from playwright.async_api import Browser, Page, async_playwright, expect

SECOND_HOST = Path(__file__).parents[2] / "examples" / "second_host"
CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
WAIT_S = 100.0

pytestmark = [
    pytest.mark.xdist_group("browser"),
    pytest.mark.skipif(CHROMIUM is None, reason="there is no system Chromium here"),
]


@dataclass(frozen=True)
class Demo:
    """A running product and the intranet beside it."""

    data: Path
    port: int

    @property
    def product(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def intranet(self) -> str:
        return f"http://127.0.0.1:{self.port + 1}"

    def token(self, person: str) -> str:
        cookie = {"Cookie": f"person={person}"}
        return httpx2.get(f"{self.intranet}/host-token", headers=cookie, trust_env=False).text

    def allow(self, origin: str) -> None:
        command = [SECOND_HOST / "allow_origin.py", self.data, "demo-acme", origin]
        subprocess.run([sys.executable, *map(str, command)], check=True)


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Demo]:
    """A product that has not read its content yet: the frame needs none."""
    demo = Demo(tmp_path_factory.mktemp("hosts") / "data", _two_ports())
    where = ("--data", str(demo.data))
    cogni = (sys.executable, "-m", "cogni_embedded")
    subprocess.run([*cogni, "migrate", *where], check=True, stdout=subprocess.DEVNULL)
    with (demo.data.parent / "log").open("wb") as log:
        running = subprocess.Popen(
            [*cogni, "run", *where, "--port", str(demo.port)], stdout=log, stderr=log
        )
    try:
        _until_served(demo)
        yield demo
    finally:
        running.terminate()
        running.wait(30)


@pytest.fixture
async def browser() -> AsyncIterator[Browser]:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        await browser.close()


@contextmanager
def second_host(demo: Demo, folder: Path) -> Iterator[str]:
    """Serve the second host on an origin of its own, and return that."""
    document = (SECOND_HOST / "index.html").read_text()
    (folder / "index.html").write_text(document.replace("http://127.0.0.1:8080", demo.product))
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder))) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name of the base
        return


async def open_assistant(page: Page) -> None:
    """Press the launcher, which no script of the page can reach, as a person does with the keyboard."""
    size = page.viewport_size
    assert size is not None
    await page.mouse.click(size["width"] - 48, size["height"] - 48)


async def test_the_intranet_holds_the_assistant_on_a_page_of_its_own(
    demo: Demo, browser: Browser
) -> None:
    page = await browser.new_page()
    wrong: list[str] = []
    page.on("pageerror", lambda error: wrong.append(str(error)))

    await page.goto(f"{demo.intranet}/wiki/handbook/leave")
    await open_assistant(page)

    await expect(page.frames[1].get_by_role("textbox").first).to_be_visible()
    assert page.frames[1].url.startswith(f"{demo.product}/surface/demo-acme?")
    assert wrong == []


async def test_a_second_host_on_the_list_works(
    demo: Demo, browser: Browser, tmp_path: Path
) -> None:
    with second_host(demo, tmp_path) as origin:
        demo.allow(origin)
        page = await browser.new_page()
        async with page.expect_event("dialog") as asked:
            await page.goto(origin, wait_until="commit")
        dialog = await asked.value
        await dialog.accept(demo.token("engineer"))
        await open_assistant(page)

        await expect(page.frames[1].get_by_role("textbox").first).to_be_visible()


async def test_a_third_host_cannot_hold_it(demo: Demo, browser: Browser, tmp_path: Path) -> None:
    said: list[str] = []
    with second_host(demo, tmp_path) as origin:
        page = await browser.new_page()
        page.on("console", lambda message: said.append(message.text))
        await page.goto(origin)
        await open_assistant(page)
        await page.wait_for_timeout(500)

        assert await page.frames[1].get_by_role("textbox").count() == 0
    assert any("frame-ancestors" in text for text in said), said


async def test_nobody_can_hold_the_intranet_itself(
    demo: Demo, browser: Browser, tmp_path: Path
) -> None:
    said: list[str] = []
    with second_host(demo, tmp_path) as origin:
        (tmp_path / "index.html").write_text(f"<iframe src='{demo.intranet}'></iframe>")
        page = await browser.new_page()
        page.on("console", lambda message: said.append(message.text))
        await page.goto(origin)
        await page.wait_for_timeout(500)

    assert any("frame-ancestors" in text for text in said), said


async def test_the_intranet_works_without_scripts(demo: Demo, browser: Browser) -> None:
    context = await browser.new_context(java_script_enabled=False)
    page = await context.new_page()

    await page.goto(f"{demo.intranet}/requests")
    await page.get_by_label("You are").select_option("support")
    await page.get_by_role("button", name="Switch").click()
    await page.get_by_role("link", name=re.compile("REQ-4471")).click()

    await expect(page.get_by_label("You are")).to_have_value("support")
    await expect(page.get_by_text("Batch 2231")).to_be_visible()


@pytest.mark.parametrize("width", [360, 768, 1440])
async def test_no_page_is_wider_than_its_window(demo: Demo, browser: Browser, width: int) -> None:
    page = await browser.new_page(viewport={"width": width, "height": 800})

    for path in (
        "",
        "handbook",
        "requests",
        "people",
        "time-off",
        "wiki/projects/harbour/milestones",
    ):
        await page.goto(f"{demo.intranet}/{path}")
        assert await page.evaluate("document.documentElement.scrollWidth") <= width, path


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_axe_finds_nothing_wrong_with_the_intranet(
    demo: Demo, browser: Browser, scheme: Literal["light", "dark"]
) -> None:
    page = await browser.new_page(color_scheme=scheme)

    for path in ("", "requests/REQ-4471", "people", "time-off", "wiki/projects/harbour/milestones"):
        await page.goto(f"{demo.intranet}/{path}")
        found = await Axe().run(page, context={"exclude": [["#assistant"]]})
        assert found.violations_count == 0, found.generate_report()


def _until_served(demo: Demo) -> None:
    until = time.monotonic() + WAIT_S
    while time.monotonic() < until:
        with suppress(httpx2.TransportError):
            if httpx2.get(demo.intranet, trust_env=False).status_code == 200:
                return
        time.sleep(0.1)
    raise AssertionError((demo.data.parent / "log").read_text())


def _two_ports() -> int:
    """Return a free port whose next one is free too, from where no outgoing connection takes its own."""
    for port in random.SystemRandom().sample(range(20_000, 32_000), 50):
        with ExitStack() as stack, suppress(OSError):
            first, second = (stack.enter_context(socket.socket()) for _ in "ab")
            first.bind(("127.0.0.1", port))
            second.bind(("127.0.0.1", port + 1))
            return port
    raise AssertionError("no two free ports in a row")
