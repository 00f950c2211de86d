"""A page of a host that runs Turbo, and no script of ours: the official client shows the answer."""

import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect

if TYPE_CHECKING:
    from tests.browser.conftest import Line

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.xdist_group("browser")]

CLIENT = Path(__file__).parents[2] / ".node/turbo"
TURBO = CLIENT / "node_modules/@hotwired/turbo/dist/turbo.es2017-umd.js"
LEAVE = "How much parental leave do I get?"
PEOPLE = "How many people work in Engineering?"
PAGE = "<!doctype html><title>Host</title><main><div id='cogni'></div></main>"
WAIT_MS = 30_000
SHOW = """async ([token, message, after]) => {
    const headers = {Authorization: `Bearer ${token}`, "Content-Type": "application/json"};
    const asked = await fetch("/v1/turns", {
        method: "POST",
        headers: {...headers, Accept: "text/event-stream"},
        body: JSON.stringify({message}),
    });
    const reader = asked.body.getReader();
    let text = "";
    while (!text.includes("\\n\\n"))
        text += new TextDecoder().decode((await reader.read()).value);
    await reader.cancel();
    const run = JSON.parse(text.match(/data: (.*)/)[1]).run_ref;
    window.follow = after => new Promise(done => {
        const address = `${location.origin.replace("http", "ws")}/v1/runs/${run}/socket`;
        const socket = new WebSocket(address, ["cogni.turbo"]);
        Turbo.session.connectStreamSource(socket);
        socket.onopen = () => socket.send(JSON.stringify({token, after}));
        socket.onclose = event => done(event.code);
    });
    return [run, await window.follow(after)];
}"""


@pytest_asyncio.fixture(loop_scope="session")
async def page(chromium: Browser, line: "Line") -> AsyncIterator[Page]:
    """A page of the product's own origin that has nothing but Turbo."""
    if not (CLIENT / ".installed").exists():
        pytest.skip("the Turbo client is not here; `make turbo-client` installs it")
    context = await chromium.new_context()
    page = await context.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    await page.route(
        f"{line.product}/host", lambda route: route.fulfill(body=PAGE, content_type="text/html")
    )
    await page.goto(f"{line.product}/host")
    await page.add_script_tag(path=TURBO)
    yield page
    await context.close()
    assert errors == []


@pytest.fixture(scope="module")
def token(data_folder: Path) -> str:
    words = [sys.executable, "-m", "cogni_embedded", "token", "--as", "hr-lead"]
    return subprocess.run(
        [*words, "--data", str(data_folder)], check=True, capture_output=True, text=True
    ).stdout.strip()


async def test_turbo_shows_an_answer_with_its_sources_and_its_label(page: Page, token: str) -> None:
    run, code = await page.evaluate(SHOW, [token, LEAVE, 0])

    answer = page.locator(f"article#cogni-{run}")
    await expect(answer).to_contain_text("weeks", timeout=WAIT_MS)
    await expect(answer.locator(".generated")).to_have_count(1)
    await expect(answer.locator(".answer")).to_have_count(1)
    assert code == 1000
    assert await page.locator("#cogni > article").count() == 1


async def test_a_widget_is_there_for_a_script_of_the_page(page: Page, token: str) -> None:
    run, _ = await page.evaluate(SHOW, [token, PEOPLE, 0])

    widget = page.locator(f"[id^='cogni-{run}-'][data-cogni-kind]")
    await expect(widget).to_have_count(1, timeout=WAIT_MS)
    await expect(widget).to_be_hidden()
    payload = await widget.evaluate("each => JSON.parse(each.dataset.cogniPayload)")
    assert payload["title"]


async def test_what_is_followed_again_from_the_beginning_stands_there_once(
    page: Page, token: str
) -> None:
    run, _ = await page.evaluate(SHOW, [token, PEOPLE, 0])
    shown = page.locator(f"article#cogni-{run}")
    await expect(shown.locator(".answer")).to_have_count(1, timeout=WAIT_MS)
    once = await shown.inner_text()

    assert await page.evaluate("window.follow(0)") == 1000

    await expect(shown).to_have_text(once, use_inner_text=True, timeout=WAIT_MS)
    assert await page.locator(f"article#cogni-{run}").count() == 1
