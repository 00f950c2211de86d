"""Take a picture of every state of the assistant in the demo's intranet: `screenshots.py [FOLDER]`.

The usual ones are taken at 360, 768 and 1440 pixels, the rarer ones at one width, all of them light and dark, from a
product of its own on a new data folder. What a product that works does not show, like a failure, is put into the stream.
"""

import asyncio
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx2
from playwright.async_api import Browser, BrowserContext, Route, async_playwright

from scripts.screenshot_states import SETTLE_MS, STATES, State

FOLDER = Path("docs/screenshots")
PORT = 18180
PRODUCT = f"http://127.0.0.1:{PORT}"
INTRANET = f"http://127.0.0.1:{PORT + 1}"
QUALITY = 52
ARGUMENTS = ["--no-sandbox", "--disable-features=LocalNetworkAccessChecks"]
READY_S = 120.0


@contextmanager
def product() -> Iterator[None]:
    """Run the product until its content is read."""
    cogni = (sys.executable, "-m", "cogni_embedded")
    with tempfile.TemporaryDirectory() as data:
        where = ("--data", data)
        subprocess.run([*cogni, "migrate", *where], check=True, stdout=subprocess.DEVNULL)
        running = subprocess.Popen(
            [*cogni, "run", *where, "--port", str(PORT)], stdout=subprocess.DEVNULL
        )
        try:
            _until_ready(running)
            yield
        finally:
            running.terminate()
            running.wait(30)


def _until_ready(running: "subprocess.Popen[bytes]") -> None:
    until = time.monotonic() + READY_S
    while time.monotonic() < until:
        if running.poll() is not None:
            raise SystemExit("the product did not start; is its port free?")
        with suppress(httpx2.TransportError):
            if httpx2.get(f"{PRODUCT}/readyz", trust_env=False).status_code == 200:
                return
        time.sleep(0.2)
    raise SystemExit("the product did not become ready")


TELL = """(body, held) => {
    const real = window.fetch;
    window.fetch = async (...given) => {
        if (!String(given[0]).startsWith("/v1/turns")) return real(...given);
        const shown = held ? body.slice(0, body.lastIndexOf("id: ")) : body;
        const stream = new ReadableStream({start(to) {
            to.enqueue(new TextEncoder().encode(shown));
            if (!held) to.close();
        }});
        return new Response(stream, {headers: {"Content-Type": "text/event-stream"}});
    };
}"""


async def prepared(context: BrowserContext, state: State) -> None:
    """Let the context be this person's, and say what the state puts in place of the product's."""
    await context.add_cookies([{"name": "person", "value": state.person, "url": INTRANET}])
    if state.told:
        given = f"{json.dumps(state.told)}, {json.dumps(state.held)}"
        await context.add_init_script(f"({TELL})({given})")

    async def spoken(route: Route) -> None:
        answer = await route.fetch()
        body = (await answer.text()).replace('<html lang="en">', f'<html lang="{state.locale}">')
        await route.fulfill(response=answer, body=body)

    if state.locale != "en":
        await context.route(INTRANET + state.path, spoken)


async def pictured(browser: Browser, state: State, folder: Path) -> list[str]:
    """Take a state's pictures; return which could not be taken, and why."""
    failed = []
    for scheme in ("light", "dark"):
        for width, height in state.windows:
            name = f"{state.name}-{width}-{scheme}"
            context = await browser.new_context(
                viewport={"width": width, "height": height},
                color_scheme="light" if scheme == "light" else "dark",
                reduced_motion="reduce",
            )
            await prepared(context, state)
            page = await context.new_page()
            await page.goto(INTRANET + state.path)
            try:
                await state.act(page)
            except Exception as error:  # the picture shows what went wrong
                failed.append(f"{name}: {str(error).partition(chr(10))[0]}")
            await page.wait_for_timeout(SETTLE_MS)
            await page.screenshot(path=folder / f"{name}.jpeg", type="jpeg", quality=QUALITY)
            await context.close()
    return failed


async def main(folder: Path) -> int:
    """Take all pictures; return how many states were not reached."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    with tempfile.TemporaryDirectory() as home:
        async with async_playwright() as playwright:
            own = {**os.environ, "HOME": home, "XDG_CONFIG_HOME": home, "XDG_CACHE_HOME": home}
            browser = await playwright.chromium.launch(
                executable_path=chromium, args=ARGUMENTS, env={**own}
            )
            failed = [line for state in STATES for line in await pictured(browser, state, folder)]
            await browser.close()
    print(
        "\n".join(failed)
        or f"{sum(2 * len(state.windows) for state in STATES)} pictures in {folder}"
    )
    return len(failed)


if __name__ == "__main__":
    wanted = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    wanted.mkdir(parents=True, exist_ok=True)
    with product():
        sys.exit(asyncio.run(main(wanted)) > 0)
