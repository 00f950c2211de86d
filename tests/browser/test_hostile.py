"""Pages and answers that mean harm, or are merely broken."""

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from playwright.async_api import Browser, expect

if TYPE_CHECKING:
    from tests.browser.conftest import Line, Open

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.xdist_group("browser")]

LEAVE = "How much parental leave do I get?"
SHARED = Path(os.environ.get("COGNI_SHARED", Path(__file__).parents[2].parent / "shared"))
RENDERED = ("render_exfil", "markdown_exfil", "html_xss", "markdown_js")
SETTLE_MS = 500


def rows() -> list[dict[str, Any]]:
    file = SHARED / "data" / "injection.jsonl"
    if not file.exists():
        pytest.skip("the shared data is not here; COGNI_SHARED names it")
    read = [json.loads(line) for line in file.read_text().splitlines()]
    return [row for row in read if row["family"] in RENDERED]


async def test_no_answer_makes_the_browser_ask_anybody(
    open_chat: "Open", line: "Line", trap: list[str]
) -> None:
    chat = await open_chat()
    ran: list[str] = []
    chat.page.on("dialog", lambda dialog: ran.append(dialog.message))
    found = rows()
    for n, row in enumerate(found):
        planted = "\n\n".join(filter(None, (row.get("obey", {}).get("answer"), row["text"])))
        line.will_answer(f"row {n}", planted.replace("$SECRET", "hunter2"))
        await chat.ask(f"row {n}")
    await chat.page.wait_for_timeout(SETTLE_MS)

    inside = await chat.frame.evaluate(
        "document.querySelectorAll('.answer :is(a, img, iframe, script, style, link, form, object, [style], [src])').length"
    )

    assert len(found) >= 90
    assert (trap, ran, inside, chat.errors) == ([], [], 0, [])


async def test_html_that_no_server_cleaned_stays_harmless_too(
    open_chat: "Open", line: "Line", trap: list[str]
) -> None:
    chat = await open_chat()
    evil = "<img src=http://x.invalid/1 onerror=alert(1)><iframe src=http://x.invalid/2></iframe>"
    style = "<p style='background:url(http://x.invalid/3)'>left</p><a href='http://x.invalid/4' ping='http://x.invalid'>go</a>"
    outcome = {"run_ref": "r1", "conversation_id": "c1", "kind": "completed", "text": "x"}
    html = f'<div class="answer" dir="auto">{evil}{style}</div>'
    line.will_tell("hole", ("done", {"outcome": {**outcome, "html": html}}))

    turn = await chat.ask("hole")
    await chat.page.wait_for_timeout(SETTLE_MS)

    await expect(turn.locator(".answer")).to_contain_text("left")
    assert trap == []


async def test_the_trap_catches(chromium: Browser, trap: list[str]) -> None:
    page = await chromium.new_page()
    await page.set_content('<img src="http://seeded.invalid/hole">')
    await page.wait_for_timeout(SETTLE_MS)
    await page.close()

    assert any("/hole" in caught for caught in trap)
    trap.clear()


async def test_messages_of_strangers_are_not_heard(open_chat: "Open") -> None:
    chat = await open_chat()
    before = await chat.frame.locator("#chips li").count()

    await chat.frame.evaluate(
        """() => {
            window.postMessage({type: "cogni:context", subject_ref: {kind: "request", id: "REQ-4471"}}, "*");
            window.postMessage({type: "cogni:token", token: "stolen"}, "*");
            const inner = document.body.appendChild(document.createElement("div"));
            dispatchEvent(new MessageEvent("message", {data: {type: "cogni:token", token: "x"}, origin: "https://evil.invalid", source: parent}));
            dispatchEvent(new MessageEvent("message", {data: null, origin: document.referrer, source: parent}));
            inner.remove();
        }"""
    )
    await chat.page.evaluate(
        """() => {
            for (const data of [null, 7, "x", {}, {type: 1}, {type: "cogni:open-state"}, {type: "cogni:token-needed"}])
                postMessage(data, "*");
        }"""
    )
    await chat.page.wait_for_timeout(SETTLE_MS)

    assert await chat.frame.locator("#chips li").count() == before
    assert chat.errors == []
    turn = await chat.ask(LEAVE)
    await expect(turn.locator(".answer")).to_contain_text("20 weeks")


async def test_a_host_page_full_of_errors_does_not_matter(open_chat: "Open") -> None:
    broken = """
        setTimeout(() => { throw new Error("host"); });
        setTimeout(() => Promise.reject(new Error("host")));
        window.onerror = () => { throw new Error("again"); };
        addEventListener("message", () => { throw new Error("message"); });
    """
    chat = await open_chat(script=broken)

    turn = await chat.ask(LEAVE)

    await expect(turn.locator(".answer")).to_contain_text("20 weeks")
    assert any("host" in error for error in chat.errors)


async def test_nobody_accepts_what_is_covered(open_chat: "Open") -> None:
    chat = await open_chat()
    turn = await chat.ask("Please book leave from 2027-03-03 to 2027-03-03")
    accept = turn.get_by_role("button", name="Accept", exact=True)
    await expect(accept).to_have_attribute("aria-disabled", "false")

    await chat.page.evaluate(
        """() => document.body.insertAdjacentHTML("beforeend",
            '<div id=cover style="position:fixed;inset:0;background:#fffe;pointer-events:none"></div>')"""
    )

    await expect(accept).to_have_attribute("aria-disabled", "true")
    await accept.evaluate("node => node.click()")
    await expect(turn.locator(".state")).to_have_count(0)
    await chat.page.evaluate("document.getElementById('cover').remove()")
    await expect(accept).to_have_attribute("aria-disabled", "false")
