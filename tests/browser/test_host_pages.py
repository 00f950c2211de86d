"""Who may hold the assistant in a page: the demo's intranet, a second host on the list, and no third."""

import re
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Literal

import httpx2
import pytest
import pytest_asyncio
from axe_playwright_python.async_playwright import Axe
from playwright.async_api import Browser, BrowserContext, Page, expect

if TYPE_CHECKING:
    from tests.browser.conftest import Line

SECOND_HOST = Path(__file__).parents[2] / "examples" / "second_host"

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.xdist_group("browser")]


@dataclass(frozen=True)
class Demo:
    """A running product and the intranet beside it."""

    data: Path
    product: str
    intranet: str

    def token(self, person: str) -> str:
        cookie = {"Cookie": f"person={person}"}
        return httpx2.get(f"{self.intranet}/host-token", headers=cookie, trust_env=False).text

    def allow(self, origin: str) -> None:
        command = [SECOND_HOST / "allow_origin.py", self.data, "demo-acme", origin]
        subprocess.run([sys.executable, *map(str, command)], check=True)


@pytest.fixture
def demo(line: "Line", data_folder: Path) -> Demo:
    return Demo(data_folder, line.product, line.intranet)


@pytest_asyncio.fixture(loop_scope="session")
async def context(chromium: Browser) -> AsyncIterator[BrowserContext]:
    async with await chromium.new_context() as context:
        yield context


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
    demo: Demo, context: BrowserContext
) -> None:
    page = await context.new_page()
    wrong: list[str] = []
    page.on("pageerror", lambda error: wrong.append(str(error)))

    await page.goto(f"{demo.intranet}/wiki/handbook/leave")
    await open_assistant(page)

    await expect(page.frames[1].get_by_role("textbox").first).to_be_visible()
    assert page.frames[1].url.startswith(f"{demo.product}/surface/demo-acme?")
    assert wrong == []


async def test_a_second_host_on_the_list_works(
    demo: Demo, context: BrowserContext, tmp_path: Path
) -> None:
    with second_host(demo, tmp_path) as origin:
        demo.allow(origin)
        page = await context.new_page()
        await page.goto(origin)
        async with page.expect_event("dialog") as asked:
            await open_assistant(page)
        dialog = await asked.value
        await dialog.accept(demo.token("engineer"))

        await expect(page.frames[1].get_by_role("textbox").first).to_be_visible()


async def test_a_third_host_cannot_hold_it(
    demo: Demo, context: BrowserContext, tmp_path: Path
) -> None:
    said: list[str] = []
    with second_host(demo, tmp_path) as origin:
        page = await context.new_page()
        page.on("console", lambda message: said.append(message.text))
        await page.goto(origin)
        await open_assistant(page)
        await page.wait_for_timeout(500)

        assert await page.frames[1].get_by_role("textbox").count() == 0
    assert any("frame-ancestors" in text for text in said), said


async def test_nobody_can_hold_the_intranet_itself(
    demo: Demo, context: BrowserContext, tmp_path: Path
) -> None:
    said: list[str] = []
    with second_host(demo, tmp_path) as origin:
        (tmp_path / "index.html").write_text(f"<iframe src='{demo.intranet}'></iframe>")
        page = await context.new_page()
        page.on("console", lambda message: said.append(message.text))
        await page.goto(origin)
        await page.wait_for_timeout(500)

    assert any("frame-ancestors" in text for text in said), said


async def test_the_intranet_works_without_scripts(demo: Demo, chromium: Browser) -> None:
    page = await chromium.new_page(java_script_enabled=False)

    await page.goto(f"{demo.intranet}/requests")
    await page.get_by_label("You are").select_option("support")
    await page.get_by_role("button", name="Switch").click()
    await page.get_by_role("link", name=re.compile("REQ-4471")).click()

    await expect(page.get_by_label("You are")).to_have_value("support")
    await expect(page.get_by_text("Batch 2231")).to_be_visible()
    await page.close()


@pytest.mark.parametrize("width", [360, 768, 1440])
async def test_no_page_is_wider_than_its_window(
    demo: Demo, context: BrowserContext, width: int
) -> None:
    page = await context.new_page()
    await page.set_viewport_size({"width": width, "height": 800})

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
    demo: Demo, context: BrowserContext, scheme: Literal["light", "dark"]
) -> None:
    page = await context.new_page()
    await page.emulate_media(color_scheme=scheme)

    for path in ("", "requests/REQ-4471", "people", "time-off", "wiki/projects/harbour/milestones"):
        await page.goto(f"{demo.intranet}/{path}")
        found = await Axe().run(page, context={"exclude": [["#assistant"]]})
        assert found.violations_count == 0, found.generate_report()
