"""The surface in another language, and in a tenant's colours."""

import asyncio
import re
from typing import TYPE_CHECKING, Any

import pytest
from playwright.async_api import expect

if TYPE_CHECKING:
    from tests.browser.conftest import Chat, Line, Open

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.xdist_group("browser")]

ARBEITSZEIT = "Wie lange ist die Arbeitszeit in Leipzig?"
BOOK = "Please book leave from 2027-06-01 to 2027-06-01"
NAMED = """() => [...document.querySelectorAll("button, [aria-label], [title], [placeholder], [data-text]")]
    .flatMap(node => [node.getAttribute("aria-label"), node.title, node.placeholder, node.childElementCount ? null : node.textContent])
    .filter(text => text && text.trim())"""
ENGLISH = re.compile(
    r"\b(the|your|you|send|stop|close|new|copy|ask|again|good|bad|answer|source|sources|read|accept|decline|"
    r"generated|checked|until|proposed|change|would|will|with|add|document|remove|something|right|not|of)\b",
    re.IGNORECASE,
)


async def english(chat: "Chat") -> list[str]:
    """Return what of the surface's own words is English."""
    named: list[str] = await chat.frame.evaluate(NAMED)
    return sorted({text for text in named if ENGLISH.search(text)})


async def test_a_german_page_speaks_german_throughout(open_chat: "Open") -> None:
    chat = await open_chat(locale="de")
    assert await chat.frame.evaluate("document.documentElement.lang") == "de"
    await expect(chat.frame.locator("#welcome")).to_contain_text("Fragen Sie")
    await expect(chat.composer).to_have_attribute("placeholder", "Frage eingeben")

    await chat.begin(ARBEITSZEIT)
    await expect(chat.frame.locator("#status")).to_contain_text(
        re.compile("gesucht|geschrieben|los|Lesen|Suche|durchsucht")
    )
    label = await chat.frame.locator("article .generated").inner_text()
    turn = await chat.finished()

    await expect(turn.locator(".generated")).to_have_text(label)
    assert label.startswith("Automatisch erzeugte Antwort.")
    await expect(turn.locator(".fine")).to_contain_text(
        re.compile(r"Quellen gelesen bis \d+\.\d+\.\d+")
    )
    await turn.get_by_role("button", name="Schlechte Antwort").click()
    assert await english(chat) == []


async def test_a_refusal_and_a_limit_are_german_too(open_chat: "Open", line: "Line") -> None:
    chat = await open_chat(locale="de-AT")

    refused = await chat.ask("Wie schnell fliegt eine Schwalbe auf dem Mars?")
    assert not ENGLISH.search(await refused.locator(".note").inner_text())
    await expect(refused.locator(".answer")).not_to_contain_text("found nothing")
    await chat.page.route(
        "**/v1/turns",
        lambda route: route.fulfill(status=429, headers={"Retry-After": "9"}, body="{}"),
    )
    limited = await chat.ask("Und jetzt?")

    await expect(limited.locator(".note")).to_contain_text("Versuchen Sie es in")


async def test_the_longest_status_is_shown_whole_on_a_phone(
    open_chat: "Open", line: "Line"
) -> None:
    chat, gate = await open_chat(360, locale="de"), asyncio.Event()
    line.will_answer("x", "x")
    line.will_tell("x", ("token", {"text": "x"}), gate, line.told["x"][-1])
    await chat.page.route("**/stop", lambda route: route.abort())
    await chat.begin("x")
    await chat.page.wait_for_timeout(600)

    await chat.frame.get_by_role("button", name="Anhalten").click()

    status = chat.frame.locator("#status")
    await expect(status).to_contain_text("wenn Sie online sind.")
    cut = "n => n.scrollWidth > n.clientWidth || n.scrollHeight > n.clientHeight"
    assert not await status.evaluate(cut)
    gate.set()


async def test_a_proposal_is_german_in_the_words_of_the_hosts_tool_too(open_chat: "Open") -> None:
    chat = await open_chat(locale="de")

    turn = await chat.ask(BOOK)

    card = turn.locator(".proposal")
    await expect(card.locator("h3")).to_have_text("Jahresurlaub buchen")
    await expect(card.locator("dt")).to_have_text(
        ["Tage", "Arbeitstage", "Resturlaub", "Erster Tag", "Letzter Tag"]
    )
    await expect(card).to_contain_text("Dienstag, 1. Juni 2027")
    await expect(card).to_contain_text("Sie würde ausgeführt mit")
    await expect(card).to_contain_text("Sie können bis")
    await turn.get_by_role("button", name="Ablehnen").click()
    await expect(turn.locator(".state")).to_have_text("Abgelehnt. Nichts wurde geändert.")


async def test_what_a_tool_did_and_where_a_source_stands_is_german_too(
    open_chat: "Open", line: "Line"
) -> None:
    chat = await open_chat(locale="de")
    line.pause_s = 0.15
    await chat.begin("What is the status of REQ-4471?")
    await expect(chat.frame.locator("#status")).to_have_text("Der Vorgang wird nachgeschlagen")
    line.pause_s = 0
    card = (await chat.finished()).locator("details.card")

    await expect(card.locator("summary")).to_contain_text("Vorgang nachgeschlagen")
    await card.locator("summary").click()
    await expect(card.locator("dt").first).to_have_text("Nummer")


async def test_an_unknown_language_is_english(open_chat: "Open") -> None:
    chat = await open_chat(locale="tlh")

    await expect(chat.frame.locator("#welcome")).to_contain_text("Ask in your own words.")
    assert await chat.frame.evaluate("document.documentElement.lang") == "en"


BRAND = {
    "name": "Tideglass helper",
    "colour_accent": "#7a1f5c",
    "colour_on_accent": "#ffffff",
    "radius": "2px",
    "density": "compact",
    "font": "serif",
    "icons": "filled",
}
STYLE = """selector => {
    const style = getComputedStyle(document.querySelector(selector));
    return {ground: style.backgroundColor, ink: style.color, font: style.fontFamily, radius: style.borderRadius};
}"""


async def test_a_brand_colours_and_names_the_surface(open_chat: "Open") -> None:
    chat = await open_chat(brand=BRAND)

    send: Any = await chat.frame.evaluate(STYLE, "#send")
    assert send["ground"] == "rgb(122, 31, 92)"
    assert send["ink"] == "rgb(255, 255, 255)"
    assert send["radius"] == "2px"
    assert "Georgia" in (await chat.frame.evaluate(STYLE, "body"))["font"]
    await expect(chat.frame.get_by_role("heading", level=1)).to_have_text("Tideglass helper")
    assert await chat.frame.evaluate("document.title") == "Tideglass helper"


@pytest.mark.parametrize(
    "colours",
    [
        {"colour_text": "#ffd500", "colour_background": "#101820", "colour_surface": "#1c2833"},
        {"colour_text": "#222222", "colour_background": "#fff8e7"},
        {"colour_accent": "#ffe600"},
    ],
)
@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_whatever_the_colours_the_label_and_the_confirmation_are_readable(
    open_chat: "Open", line: "Line", scheme: str, colours: dict[str, str], serious: Any
) -> None:
    chat = await open_chat(scheme=scheme, brand=colours)
    plan = {"title": "Book a room", "steps": [{"title": "Room", "detail": "Atrium"}]}
    late = "2099-01-01T00:00:00+00:00"
    proposal = {"id": "p1", "rendering": plan, "expires_at": late, "arguments": {"room": "Atrium"}}
    line.will_answer("room", "It waits.", kind="proposed", proposal=proposal)

    turn = await chat.ask("room")

    await expect(turn.get_by_role("button", name="Accept")).to_be_visible()
    await expect(turn.locator(".generated")).to_be_visible()
    assert await serious(chat) == []
