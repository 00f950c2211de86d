"""Long answers, slow phones, tokens that run out, and a text that stands still under the reader."""

import asyncio
import re
import time
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from playwright.async_api import Route, expect

from cogni_adapters.database.directory import DatabaseDirectoryAdapter
from cogni_adapters.database.engine import Database
from cogni_adapters.jwt.signer import sign_host_token
from cogni_adapters.jwt.verifier import LEEWAY
from cogni_adapters.system.clock import SystemClockAdapter
from cogni_surfaces import disclosed, json_line, the_rest
from cogni_testing import ok

if TYPE_CHECKING:
    from tests.browser.conftest import Chat, Line, Open

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.xdist_group("browser")]

LEAVE = "How much parental leave do I get?"
WORDS = 50_000
SENTENCE = "The meter in the harbour counts what flows and says so at noon. "
TOUCHED = """() => {
    window.touched = 0;
    const [paragraph] = document.querySelectorAll(".answer > p");
    const watch = new MutationObserver(changes => { touched += changes.some(
        ({target, removedNodes}) => paragraph.contains(target) || [...removedNodes].includes(paragraph)); });
    watch.observe(document.querySelector(".answer"), {childList: true, characterData: true, subtree: true, attributes: true});
}"""


def tokens(text: str, size: int) -> list[tuple[str, dict[str, object]]]:
    return [("token", {"text": text[at : at + size]}) for at in range(0, len(text), size)]


async def settled(chat: "Chat") -> None:
    """Wait until two frames have been drawn."""
    await chat.frame.evaluate(
        "new Promise(r => requestAnimationFrame(() => requestAnimationFrame(r)))"
    )


async def test_fifty_thousand_words_stay_readable_while_they_come_and_after(
    open_chat: "Open", line: "Line"
) -> None:
    paragraph = SENTENCE * 8
    text = "\n\n".join([paragraph] * (WORDS // len(paragraph.split())))
    whole: dict[str, object] = {"run_ref": "r1", "text": text, "citations": [], "markers": []}
    shown = {**disclosed(whole), "conversation_id": "c1", "kind": "completed"}
    first, second, *others, last = tokens(text, 2_000)
    gate, ending = asyncio.Event(), ("done", {"outcome": shown})
    line.will_tell("long", first, second, gate, *others, last, ending)
    chat = await open_chat(360)
    await chat.page.route("**/rest*", lambda route: route.fulfill(body=json_line(the_rest(whole))))

    await chat.begin("long")
    await expect(chat.frame.locator(".answer > p").nth(2)).to_be_attached()
    await chat.frame.evaluate(TOUCHED)
    gate.set()
    turn = await chat.finished()
    # what was complete is left alone, however much comes after it, until the rendered answer takes its place
    assert await chat.frame.evaluate("touched") <= 1
    more = turn.get_by_role("button", name="Show the rest")
    await expect(more).to_be_visible()
    at_first = len(await turn.locator(".answer").inner_text())
    await more.focus()
    await chat.page.keyboard.press("Enter")
    await expect(more).to_have_count(0)

    words = len((await turn.locator(".answer").inner_text()).split())
    assert at_first <= 20_500
    assert abs(words - WORDS) < 400
    assert await turn.locator(".answer > p:focus").count() == 1
    await chat.composer.fill("and then?")
    assert await chat.frame.evaluate("document.documentElement.scrollWidth <= innerWidth")


async def test_four_hundred_rows_scroll_in_a_frame_of_their_own(
    open_chat: "Open", line: "Line"
) -> None:
    rows = "\n".join(f"| row {n} | {'wide ' * 3}| {n} |" for n in range(400))
    line.will_answer("rows", f"Before.\n\n| a | b | c |\n|---|---|---|\n{rows}\n\nAfter.")
    chat = await open_chat(360)

    turn = await chat.ask("rows")

    held = turn.get_by_role("region", name="Table")
    await expect(held.locator("tr")).to_have_count(401)
    box = await held.bounding_box()
    assert box is not None
    assert box["height"] <= 420
    await held.focus()
    await chat.page.keyboard.press("End")
    await expect(turn.get_by_text("row 399", exact=True)).to_be_in_viewport()
    assert await chat.frame.evaluate("log.scrollWidth <= log.clientWidth")


SCRIPTS: tuple[tuple[str, list[str]], ...] = (
    ("مرحبا بالعالم، هذا جواب.\n\nPlain English.", ["rtl", "ltr"]),
    ("English with עברית inside.\n\n- שלום\n- עולם", ["ltr", "rtl"]),
    ("会議室の予約は火曜日です。" * 40, ["ltr"]),
    ("Zu\u0308rich, a\u0301\u0300\u0302 " + "\u0301" * 40 + " किताब 👩\u200d👩\u200d👧", ["ltr"]),
)


async def test_every_script_stands_in_its_own_direction_and_inside_the_frame(
    open_chat: "Open", line: "Line"
) -> None:
    chat = await open_chat(360)

    for text, directions in SCRIPTS:
        line.will_answer(text[:40].strip(), text)
        turn = await chat.ask(text[:40].strip())
        blocks = turn.locator(".answer > *")
        found = await blocks.evaluate_all("all => all.map(p => getComputedStyle(p).direction)")
        assert found == directions
        shown = await turn.locator(".answer").inner_text()
        assert [c for c in text if c.isalpha() and c not in shown] == []
        assert await chat.frame.evaluate("log.scrollWidth <= log.clientWidth")


async def test_a_slow_phone_says_something_before_there_is_an_answer_and_stays_usable(
    open_chat: "Open", line: "Line"
) -> None:
    chat = await open_chat(360)
    slow = await chat.page.context.new_cdp_session(chat.page)
    await slow.send("Emulation.setCPUThrottlingRate", {"rate": 4})
    bytes_per_s = 1_600_000 // 8
    await slow.send(
        "Network.emulateNetworkConditions",
        {
            "offline": False,
            "latency": 150,
            "downloadThroughput": bytes_per_s,
            "uploadThroughput": bytes_per_s,
        },
    )
    text = "\n\n".join([SENTENCE * 8] * 40)
    gate = asyncio.Event()
    line.will_answer("slow", text)
    line.will_tell("slow", *tokens(text, 60), gate, line.told["slow"][-1])

    await chat.begin("slow")
    await expect(chat.frame.locator("#status")).to_have_text("Starting")
    await expect(chat.frame.locator(".answer p.live").last).to_contain_text("at noon", timeout=8000)
    await chat.composer.press_sequentially("next question", delay=5)
    await expect(chat.composer).to_have_value("next question")
    gate.set()
    await chat.finished()

    assert chat.errors == []


@pytest.mark.parametrize("widgets", [0, 3])
async def test_a_token_that_runs_out_in_mid_answer_is_asked_for_once_and_the_text_goes_on(
    open_chat: "Open", line: "Line", widgets: int
) -> None:
    chat = await open_chat()
    await chat.page.evaluate(
        """() => {
            window.renewed = 0;
            const real = window.fetch;
            window.fetch = (...given) => { renewed += String(given[0]).includes("host-token"); return real(...given); };
        }"""
    )
    text, gate = "One two three four five six.", asyncio.Event()
    issued = [
        {"marker": f"[[CHART:c{n}]]", "kind": "CHART", "payload": {}} for n in range(1, 1 + widgets)
    ]
    first, second, *rest = tokens(text, 5)
    markers = [("marker", each) for each in issued]
    line.will_answer("expiring", text)
    line.will_tell("expiring", first, second, gate, *markers, *rest, line.told["expiring"][-1])
    line.cut_after = 3 + widgets

    await chat.begin("expiring")
    await expect(chat.frame.locator(".answer p.live")).to_contain_text("One two th")
    line.expired = True
    gate.set()
    turn = await chat.finished()

    await expect(turn.locator(".answer p")).to_have_text(text)
    assert await chat.page.evaluate("renewed") == 1 + bool(widgets)
    assert [path for path in line.refused if path.endswith("/events")] == ["/v1/runs/r1/events"]
    assert len([path for path in line.refused if "/widgets/" in path]) == widgets
    assert (len(line.asked), len(line.resumed)) == (1, 1)


async def short_lived(data: Path, lives: timedelta) -> str:
    """Return a token of the demo's own host that the product believes for so long, its leeway included."""
    database = Database(f"sqlite:///{data / 'cogni.db'}")
    issuer = ok(await DatabaseDirectoryAdapter(database).issuer("demo-acme"))
    await database.close()
    assert issuer is not None
    return sign_host_token(issuer, "hr-lead", SystemClockAdapter(), lives - LEEWAY)


async def test_a_token_that_truly_expires_in_mid_answer_is_renewed_once_and_nothing_is_lost(
    open_chat: "Open", line: "Line", data_folder: Path
) -> None:
    chat, begun, lives = await open_chat(), time.monotonic(), timedelta(seconds=6)
    short, given = await short_lived(data_folder, lives), list[str]()

    async def hand_out(route: Route) -> None:
        given.append("short" if not given else "long")
        if len(given) > 1:
            await route.fallback()
        else:
            await route.fulfill(body=short)

    await chat.page.route("**/host-token", hand_out)
    await chat.page.reload()
    await chat.ready()
    line.held = asyncio.Event()
    await chat.begin(LEAVE)
    await expect(chat.frame.locator(".answer .live")).to_contain_text("From")

    await asyncio.sleep(max(0, lives.total_seconds() + 1 - (time.monotonic() - begun)))
    line.cut_after = 0
    line.held.set()
    turn = await chat.finished()

    await expect(turn.locator(".answer")).to_contain_text("20 weeks of parental leave")
    assert given == ["short", "long"]
    assert len(line.asked) == 1
    assert line.resumed
    assert chat.errors == []


async def test_a_person_who_is_signed_out_is_told_and_loses_nothing(open_chat: "Open") -> None:
    chat = await open_chat()
    await chat.page.route("**/v1/turns", lambda route: route.fulfill(status=401, body="{}"))

    turn = await chat.ask(LEAVE)

    await expect(turn.locator(".note")).to_contain_text("sign-in has run out")
    await chat.page.unroute("**/v1/turns")
    await turn.get_by_role("button", name="Try again").click()
    await expect(chat.frame.locator("article").last.locator(".answer")).to_contain_text("20 weeks")


REFUSED = """
for (const name of ["sessionStorage", "localStorage", "indexedDB", "caches"])
    Object.defineProperty(window, name, {get() { throw new DOMException("no", "SecurityError"); }});
window.BroadcastChannel = class { constructor() { throw new DOMException("no", "SecurityError"); } };
"""


async def test_a_browser_that_refuses_all_storage_still_answers(open_chat: "Open") -> None:
    chat = await open_chat(init=REFUSED)

    turn = await chat.ask(LEAVE)

    await expect(turn.locator(".answer")).to_contain_text("20 weeks")
    assert chat.errors == []


MARKDOWN = "\n\n".join(
    [
        "## What applies\n\nEverybody gets **20 weeks**, as the *handbook* says.",
        "- first\n- second\n- third",
        "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n| 5 | 6 |",
        *(f"Paragraph {n}. {SENTENCE * 4}" for n in range(40)),
    ]
)
WHERE = """() => {
    const top = log.getBoundingClientRect().top;
    const seen = [...document.querySelectorAll(".answer > p")].find(p => p.getBoundingClientRect().top >= top);
    return {text: seen.textContent.slice(0, 14), at: seen.getBoundingClientRect().top};
}"""


@pytest.mark.parametrize("width", [360, 1440])
async def test_nothing_jumps_under_the_reader_when_the_text_becomes_the_answer(
    open_chat: "Open", line: "Line", width: int
) -> None:
    chat, gate = await open_chat(width), asyncio.Event()
    line.will_answer("jump", MARKDOWN)
    line.will_tell("jump", *tokens(MARKDOWN, 400), gate, line.told["jump"][-1])
    await chat.begin("jump")
    await expect(chat.frame.locator(".answer")).to_contain_text("Paragraph 39")
    await chat.frame.evaluate(
        """() => {
            const reading = [...document.querySelectorAll(".answer > p")].find(p => p.textContent.startsWith("Paragraph 5"));
            log.scrollTop += reading.getBoundingClientRect().top - log.getBoundingClientRect().top - 20;
        }"""
    )
    await settled(chat)
    before = await chat.frame.evaluate(WHERE)

    gate.set()
    await chat.finished()
    await settled(chat)

    after = await chat.frame.evaluate(WHERE)
    assert before["text"] == after["text"] == "Paragraph 5. T"
    assert abs(after["at"] - before["at"]) <= 2
    await expect(chat.frame.get_by_role("button", name="Go to the newest")).to_be_visible()


async def test_who_reads_at_the_end_stays_at_the_end(open_chat: "Open", line: "Line") -> None:
    chat, gate = await open_chat(), asyncio.Event()
    line.will_answer("jump", MARKDOWN)
    line.will_tell("jump", *tokens(MARKDOWN, 400), gate, line.told["jump"][-1])
    await chat.begin("jump")
    await expect(chat.frame.locator(".answer")).to_contain_text("Paragraph 39")

    gate.set()
    await chat.finished()
    await settled(chat)

    left = await chat.frame.evaluate("log.scrollHeight - log.scrollTop - log.clientHeight")
    assert left <= 2


async def test_a_short_answer_becomes_its_rendering_without_a_shift(
    open_chat: "Open", line: "Line"
) -> None:
    chat, gate = await open_chat(), asyncio.Event()
    text = f"{SENTENCE * 2}\n\n{SENTENCE * 2}"
    line.will_answer("still", text)
    line.will_tell("still", ("token", {"text": text}), gate, line.told["still"][-1])
    await chat.begin("still")
    await expect(chat.frame.locator(".answer p")).to_have_count(2)
    where: Any = "() => [...document.querySelectorAll('.question, .answer > p, #composer')].map(n => Math.round(n.getBoundingClientRect().top))"
    before = await chat.frame.evaluate(where)
    await chat.frame.evaluate(
        """() => {
            window.shifted = 0;
            new PerformanceObserver(list => { for (const each of list.getEntries()) shifted += each.value; }).observe({type: "layout-shift"});
        }"""
    )

    gate.set()
    await chat.finished()
    await settled(chat)

    assert await chat.frame.evaluate(where) == before
    assert await chat.frame.evaluate("shifted") < 0.01
    assert re.search("Generated", await chat.frame.locator("article").inner_text())
