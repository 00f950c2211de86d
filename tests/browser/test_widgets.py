"""What stands in place of a marker, and what does not."""

import asyncio
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest
from playwright.async_api import Route, expect

from cogni_engine import Marker, MarkerKind, Missing
from cogni_surfaces import json_line, widget_view

if TYPE_CHECKING:
    from tests.browser.conftest import Chat, Line, Open

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.xdist_group("browser")]

HEADCOUNT = "How many people work in Engineering?"
ISSUED = {"marker": "[[CHART:c1]]", "kind": "CHART", "payload": {}}


async def answers(chat: "Chat", missing: Missing, *, asked: list[str]) -> None:
    """Let every widget be missing for one reason, as the product says it."""
    body = json_line(widget_view(Marker(MarkerKind.CHART, "c1"), missing))

    async def answer(route: Route) -> None:
        asked.append(urlsplit(route.request.url).path.rpartition("/")[2])
        await route.fulfill(body=body, content_type="application/json")

    await chat.page.route("**/widgets/**", answer)


@pytest.mark.parametrize(
    ("missing", "said"),
    [
        (Missing.EVICTED, "This is no longer kept. Ask again to have it made anew."),
        (Missing.NEVER_ISSUED, "There is nothing to show here."),
    ],
)
async def test_a_widget_that_is_gone_is_told_from_one_that_never_was(
    open_chat: "Open", line: "Line", missing: Missing, said: str
) -> None:
    chat, asked = await open_chat(), list[str]()
    await answers(chat, missing, asked=asked)
    line.will_answer("figures", "Before [[CHART:c1]] after.", markers=[ISSUED])

    turn = await chat.ask("figures")

    await expect(turn.locator(".widget")).to_have_text(said)
    await expect(turn.locator(".answer")).to_contain_text("after.")
    assert asked == ["c1"]
    assert chat.errors == []


async def test_what_no_tool_of_this_run_issued_is_neither_shown_nor_asked_for(
    open_chat: "Open", line: "Line"
) -> None:
    chat, asked = await open_chat(), list[str]()
    await answers(chat, Missing.NEVER_ISSUED, asked=asked)
    other, wrong_kind, nothing = "[[CHART:c7]]", "[[TABLE:c1]]", "[[CHART:c0]]"
    line.will_answer("figures", f"One {other} two {wrong_kind} three {nothing} [s9] four.")

    turn = await chat.ask("figures")

    await expect(turn.locator(".answer p")).to_contain_text("four.")
    assert await turn.locator(".widget, .chip").count() == 0
    assert asked == []
    assert "c7" not in await turn.locator(".answer").inner_text()
    assert "TABLE" not in await turn.locator(".answer").inner_text()


@pytest.mark.parametrize(
    ("mark", "shown"),
    [
        ("[[CHART:c１]]", ""),
        ("［［CHART:c1］］", ""),
        ("[[CHART:c1]", "[[CHART:c1]"),
        ("[[chart:c1]]", "[[chart:c1]]"),
        ("［注］１２３", "［注］１２３"),
    ],
)
async def test_a_mark_in_other_letters_goes_and_what_is_none_stays(
    open_chat: "Open", line: "Line", mark: str, shown: str
) -> None:
    chat, asked, gate = await open_chat(), list[str](), asyncio.Event()
    await answers(chat, Missing.NEVER_ISSUED, asked=asked)
    line.will_answer("figures", f"Before {mark} after.", markers=[ISSUED])
    line.will_tell("figures", line.told["figures"][1], gate, line.told["figures"][2])

    await chat.begin("figures")
    text = f"Before {shown} after." if shown else "Before after."
    await expect(chat.frame.locator(".answer")).to_have_text(text)
    gate.set()
    turn = await chat.finished()
    await expect(turn.locator(".answer")).to_have_text(text)

    assert await chat.frame.locator(".widget").count() == 0
    assert asked == []


async def test_the_product_knows_no_widget_of_another_run(open_chat: "Open") -> None:
    chat = await open_chat()
    states: list[Any] = []
    runs: list[str] = []
    chat.page.on(
        "request",
        lambda request: runs.append(request.url) if "/widgets/" in request.url else None,
    )
    await chat.ask(HEADCOUNT)
    await expect(chat.frame.locator(".widget figure")).to_be_attached(timeout=15_000)
    issued = runs[-1].partition("?")[0]
    run, _, ref = issued.rpartition("/")
    await chat.frame.get_by_role("button", name="New conversation").click()
    await chat.ask(HEADCOUNT)
    await expect(chat.frame.locator(".widget figure")).to_be_attached(timeout=15_000)
    foreign = runs[-1].rpartition("/")[0]

    token = await chat.page.evaluate("async () => (await fetch('/host-token')).text()")
    for address in (issued, f"{run}/c999", f"{run}/t{ref[1:]}", f"{run}/c１", f"{foreign}/c999"):
        answer = await chat.page.request.get(address, headers={"Authorization": f"Bearer {token}"})
        states.append((await answer.json()).get("state", answer.status))

    assert states == ["ready", "never_issued", "never_issued", 404, "never_issued"]
