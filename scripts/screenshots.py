"""Take a picture of every state of the assistant in the demo's intranet: `screenshots.py [FOLDER]`.

Each is taken at 360, 768 and 1440 pixels, light and dark, from a product of its own on a new data folder.
"""

import asyncio
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import httpx2
from playwright.async_api import Browser, Frame, Page, async_playwright, expect

FOLDER = Path("docs/screenshots")
PORT = 18180
PRODUCT = f"http://127.0.0.1:{PORT}"
INTRANET = f"http://127.0.0.1:{PORT + 1}"
WINDOWS = ((360, 740), (768, 1024), (1440, 900))
READY_S = 120.0
ANSWER_MS = 30_000
SETTLE_MS = 400

Act = Callable[[Page], Awaitable[None]]


@dataclass(frozen=True)
class State:
    """One picture: who is where, and what they did before it."""

    name: str
    act: Act
    person: str = "engineer"
    path: str = "/wiki/handbook/leave/parental-leave"


async def nothing(_: Page) -> None:
    return


async def opened(page: Page) -> Frame:
    """Press the launcher, which lies in a shadow root that no script reaches."""
    size = page.viewport_size
    assert size is not None
    await page.mouse.click(size["width"] - 48, size["height"] - 48)
    frame = page.frames[1]
    await expect(frame.locator("#message")).to_be_visible()
    return frame


async def just_opened(page: Page) -> None:
    await opened(page)


def asked(question: str) -> Callable[[Page], Awaitable[Frame]]:
    async def ask(page: Page) -> Frame:
        frame = await opened(page)
        await frame.locator("#message").fill(question)
        await frame.locator("#message").press("Enter")
        await expect(frame.locator("article .generated").last).to_be_visible(timeout=ANSWER_MS)
        await expect(frame.locator("#log")).to_have_attribute(
            "aria-busy", "false", timeout=ANSWER_MS
        )
        return frame

    return ask


def answered(question: str) -> Act:
    async def act(page: Page) -> None:
        await asked(question)(page)

    return act


def then_pressed(question: str, *names: str) -> Act:
    """Ask, then press the buttons of these names in what came."""

    async def act(page: Page) -> None:
        frame = await asked(question)(page)
        for name in names:
            await frame.get_by_role("button", name=name).first.click(timeout=ANSWER_MS)
            await page.wait_for_timeout(SETTLE_MS)

    return act


async def accepted(page: Page) -> None:
    """Book a day that no other picture has booked, and accept it."""
    day = next(_days)
    frame = await asked(f"Book leave from {day} to {day} December 2026")(page)
    accept = frame.get_by_role("button", name="Accept")
    await expect(accept).to_have_attribute("aria-disabled", "false", timeout=ANSWER_MS)
    await accept.click()
    await expect(frame.locator(".proposal .state")).to_be_visible(timeout=ANSWER_MS)


_days = iter((14, 15, 16, 17, 18, 21))

LEAVE = "How much parental leave do I get?"
BOOK = "Book leave from 14 to 16 December 2026"

STATES = (
    State("host-home", nothing, path="/"),
    State("host-handbook", nothing, path="/handbook"),
    State("host-page", nothing),
    State("host-right-to-left", nothing, path="/wiki/handbook/dubai/ramadan-hours"),
    State("host-requests", nothing, path="/requests"),
    State("host-request-internal", nothing, "support", "/requests/REQ-4471"),
    State("host-people", nothing, path="/people"),
    State("host-time-off", nothing, path="/time-off"),
    State("host-not-found", nothing, path="/wiki/hr/salary-bands"),
    State("open", just_opened),
    State("answer", answered(LEAVE)),
    State("answer-source", then_pressed(LEAVE, "Parental leave")),
    State("answer-right-to-left", answered("كم عدد ساعات العمل في شهر رمضان؟"), path="/"),
    State("request", answered("What is the status of REQ-4471?"), path="/requests/REQ-4471"),
    State("chart", answered("How many people work in Engineering?"), "hr-lead", "/people"),
    State("proposal", answered(BOOK), "support", "/time-off"),
    State("proposal-accepted", accepted, "finance-lead", "/time-off"),
    State("proposal-declined", then_pressed(BOOK, "Decline"), "support", "/time-off"),
    State("refused", answered("Who won the world cup in 1954?"), path="/"),
    State("refused-to-contractor", answered(LEAVE), "contractor", "/"),
    State("conversations", then_pressed(LEAVE, "Your conversations")),
)


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


async def pictured(browser: Browser, state: State, folder: Path) -> list[str]:
    """Take a state's pictures; return which could not be taken, and why."""
    failed = []
    for scheme in ("light", "dark"):
        for width, height in WINDOWS:
            name = f"{state.name}-{width}-{scheme}"
            context = await browser.new_context(
                viewport={"width": width, "height": height},
                color_scheme="light" if scheme == "light" else "dark",
                reduced_motion="reduce",
            )
            await context.add_cookies([{"name": "person", "value": state.person, "url": INTRANET}])
            page = await context.new_page()
            await page.goto(INTRANET + state.path)
            try:
                await state.act(page)
            except Exception as error:  # the picture shows what went wrong
                failed.append(f"{name}: {str(error).partition(chr(10))[0]}")
            await page.wait_for_timeout(SETTLE_MS)
            await page.screenshot(path=folder / f"{name}.jpeg", type="jpeg", quality=60)
            await context.close()
    return failed


async def main(folder: Path) -> int:
    """Take all pictures; return how many states were not reached."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        failed = [line for state in STATES for line in await pictured(browser, state, folder)]
        await browser.close()
    print("\n".join(failed) or f"{len(STATES) * 6} pictures in {folder}")
    return len(failed)


if __name__ == "__main__":
    wanted = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    wanted.mkdir(parents=True, exist_ok=True)
    with product():
        sys.exit(asyncio.run(main(wanted)) > 0)
