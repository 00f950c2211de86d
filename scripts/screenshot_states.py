"""The states of the assistant that pictures are taken of, and how each is reached."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from playwright.async_api import Frame, Page, expect

from cogni_surfaces import Language, View, disclosed, json_line

PHONE, TABLET, DESK = (360, 740), (768, 1024), (1440, 900)
ALL = (PHONE, TABLET, DESK)
ANSWER_MS = 30_000
SETTLE_MS = 400

Act = Callable[[Page], Awaitable[None]]


@dataclass(frozen=True)
class State:
    """One picture: who is where, and what they did before it.

    Attributes:
        told: What comes instead of the product's answer, as the body of its stream; it stays open where `held`.
        locale: The language of the host page, which the assistant takes over.
    """

    name: str
    act: Act
    person: str = "engineer"
    path: str = "/wiki/handbook/leave/parental-leave"
    windows: tuple[tuple[int, int], ...] = (PHONE,)
    told: str = ""
    held: bool = False
    locale: str = "en"


async def nothing(_: Page) -> None:
    return


async def opened(page: Page, *, loaded: bool = True) -> Frame:
    """Press the launcher, which lies in a shadow root that no script reaches."""
    size = page.viewport_size
    assert size is not None
    await page.mouse.click(size["width"] - 48, size["height"] - 48)
    frame = page.frames[1]
    await expect(frame.locator("#message")).to_be_visible()
    if loaded:
        await expect(frame.locator("html[data-ready]")).to_be_attached()
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
        await expect(frame.locator(".widget[aria-busy]")).to_have_count(0, timeout=ANSWER_MS)
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


async def begun(page: Page) -> None:
    """Ask; the answer does not end."""
    frame = await opened(page)
    await frame.locator("#message").fill(LEAVE)
    await frame.locator("#message").press("Enter")
    await expect(frame.locator("article .live").last).to_be_visible(timeout=ANSWER_MS)


async def stopping(page: Page) -> None:
    await begun(page)
    await page.route("**/stop", lambda route: route.fulfill(status=202))
    await page.wait_for_timeout(600)
    await page.frames[1].locator("#send").click()


async def with_open_card(page: Page) -> None:
    frame = await asked(LEAVE)(page)
    for card in await frame.locator("details.card > summary").all():
        await card.click()


async def attached(page: Page) -> None:
    frame = await asked(LEAVE)(page)
    for name, data in (("contract.txt", b"My notice is three months."), ("photo.png", b"")):
        await frame.locator("#file").set_input_files(
            {"name": name, "mimeType": "application/octet-stream", "buffer": data}
        )
    await expect(frame.locator("#chips .bad")).to_be_visible(timeout=ANSWER_MS)
    await expect(frame.locator("#chips [data-document]")).to_be_visible(timeout=ANSWER_MS)


async def limited(page: Page) -> None:
    body = '{"title": "That was a lot today."}'
    await page.route(
        "**/v1/turns", lambda r: r.fulfill(status=429, headers={"Retry-After": "42"}, body=body)
    )
    await refused_with_note(page)


async def cut_off(page: Page) -> None:
    await page.route("**/v1/**", lambda route: route.abort())
    frame = await opened(page, loaded=False)
    await expect(frame.locator("#welcome button")).to_be_visible(timeout=ANSWER_MS)


async def refused_with_note(page: Page) -> None:
    frame = await opened(page)
    await frame.locator("#message").fill(LEAVE)
    await frame.locator("#message").press("Enter")
    await expect(frame.locator("article .note").last).to_be_visible(timeout=ANSWER_MS)


async def launcher(page: Page) -> None:
    """Reach the launcher by keyboard: it is the last thing in the page."""
    await page.keyboard.press("Shift+Tab")


def stream(
    text: str, *events: tuple[str, Mapping[str, object]], kind: str = "completed", **more: object
) -> str:
    """Return the body of a stream that ends in an outcome of this kind."""
    ids = {"run_ref": "r1", "conversation_id": "c1"}
    outcome = {**ids, "kind": kind, "text": text, "citations": [], "markers": [], **more}
    last = (
        "failed" if kind == "failed" else "done",
        {"outcome": disclosed(outcome, View(Language.EN))},
    )
    writing = ("phase", {"phase": "composing", "detail": ""})
    told = (("run", ids), *events, writing, ("token", {"text": text}), last)
    return "".join(
        f"id: {n}\nevent: {name}\ndata: {json_line(data)}\n\n"
        for n, (name, data) in enumerate(told, 1)
    )


def completed(name: str, path: str, result: object) -> tuple[str, Mapping[str, object]]:
    """Return the event of a completed call."""
    call = {"call_id": name, "name": name, "arguments": {"path": path}, "execution_time": 0.2}
    return "tool_completed", {**call, "result": result}


LEAVE = "How much parental leave do I get?"
BOOK = "Book leave from 14 to 16 December 2026"
HALF = "You get **20 weeks** of parental leave on full pay, and you can take it in up to three parts.\n\nTell your lead"
CODE = "def fee(days: int) -> int:\n    return days * 3\n"
CARDS = (
    completed("read_file", "src/billing/late_fees.py", {"content": CODE, "range": [12, 13]}),
    completed(
        "patch_file", "src/billing/late_fees.py", {"ok": True, "diff": {"added": 4, "removed": 1}}
    ),
)
GONE = [{"marker": "[[CHART:c1]]", "kind": "CHART"}]
BROKEN = "Something went wrong on our side. Please ask again; if it stays, report 7f3a90c2."
ENDED = "The answer was stopped."

STATES = (
    State("host-home", nothing, path="/", windows=ALL),
    State("host-handbook", nothing, path="/handbook", windows=(DESK,)),
    State("host-page", nothing, windows=(DESK,)),
    State(
        "host-right-to-left", nothing, path="/wiki/handbook/dubai/ramadan-hours", windows=(DESK,)
    ),
    State("host-requests", nothing, path="/requests", windows=(DESK,)),
    State("host-request-internal", nothing, "support", "/requests/REQ-4471", (DESK,)),
    State("host-people", nothing, path="/people"),
    State("host-time-off", nothing, path="/time-off"),
    State("host-not-found", nothing, path="/wiki/hr/salary-bands"),
    State("launcher", launcher, path="/handbook"),
    State("open", just_opened, windows=ALL),
    State("streaming", begun, told=stream(HALF), held=True),
    State("stopping", stopping, told=stream(HALF), held=True),
    State("stopped", answered(LEAVE), told=stream(HALF, kind="halted", message=ENDED)),
    State("failed", answered(LEAVE), told=stream("", kind="failed", message=BROKEN)),
    State("limited", limited),
    State("cut-off", cut_off),
    State(
        "tool-cards",
        with_open_card,
        told=stream("The fee is 3 a day, and it is capped now.", *CARDS),
    ),
    State("chart-gone", answered(LEAVE), told=stream("The figures: [[CHART:c1]]", markers=GONE)),
    State("answer", answered(LEAVE), windows=ALL),
    State("answer-source", then_pressed(LEAVE, "Parental leave"), windows=ALL),
    State("answer-right-to-left", answered("كم عدد ساعات العمل في شهر رمضان؟"), path="/"),
    State(
        "answer-german",
        answered("Wie lange ist die Arbeitszeit in Leipzig?"),
        path="/",
        locale="de",
    ),
    State("feedback", then_pressed(LEAVE, "Bad answer")),
    State("attachments", attached),
    State(
        "request",
        answered("What is the status of REQ-4471?"),
        path="/requests/REQ-4471",
        windows=ALL,
    ),
    State("chart", answered("How many people work in Engineering?"), "hr-lead", "/people", ALL),
    State("proposal", answered(BOOK), "support", "/time-off", ALL),
    State("proposal-german", answered(BOOK), "support", "/time-off", locale="de"),
    State("proposal-accepted", accepted, "finance-lead", "/time-off"),
    State("proposal-declined", then_pressed(BOOK, "Decline"), "support", "/time-off"),
    State("refused", answered("Who won the world cup in 1954?"), path="/"),
    State("refused-to-contractor", answered(LEAVE), "contractor", "/"),
    State("conversations", then_pressed(LEAVE, "Your conversations"), windows=(TABLET,)),
)
