"""By keyboard, by screen reader, in both colour schemes."""

from importlib.resources import files
from typing import TYPE_CHECKING, Any

import pytest
from playwright.async_api import expect

if TYPE_CHECKING:
    from tests.browser.conftest import Line, Open

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.xdist_group("browser")]

LEAVE = "How much parental leave do I get?"
AXE = (files("axe_playwright_python") / "axe.min.js").read_text()
LEVELS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]


async def serious(chat: Any) -> list[str]:
    """Return what axe finds serious, or worse, in the frame."""
    await chat.frame.evaluate(AXE)
    found = await chat.frame.evaluate(
        "tags => axe.run(document, {runOnly: {type: 'tag', values: tags}})", LEVELS
    )
    return [
        f"{each['id']}: {each['nodes'][0]['html'][:200]}"
        for each in found["violations"]
        if each["impact"] in ("serious", "critical")
    ]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1440])
async def test_axe_finds_nothing_serious(open_chat: "Open", width: int, scheme: str) -> None:
    chat = await open_chat(width, scheme=scheme)
    states = [await serious(chat)]
    await chat.ask("How many people work in Engineering?")
    await chat.ask("Please book leave from 2027-03-01 to 2027-03-01")
    turn = await chat.ask(LEAVE)
    await turn.get_by_role("button", name="Bad answer").click()
    states.append(await serious(chat))
    await turn.locator(".chip").first.click()
    await expect(chat.frame.locator(".passage")).to_be_visible()
    states.append(await serious(chat))

    assert states == [[], [], []]


async def test_all_of_it_works_by_keyboard(open_chat: "Open") -> None:
    chat = await open_chat()
    press = chat.page.keyboard.press
    await chat.composer.focus()
    await chat.page.keyboard.type("Please book leave from 2027-03-02 to 2027-03-02")
    await press("Enter")
    turn = await chat.finished()
    await expect(chat.composer).to_be_focused()
    accept = turn.get_by_role("button", name="Accept", exact=True)

    for _ in range(20):
        await press("Shift+Tab")
        if await accept.evaluate("node => node === document.activeElement"):
            break
    await expect(accept).to_have_attribute("aria-disabled", "false")
    outline = await accept.evaluate("node => getComputedStyle(node).outlineStyle")
    await press("Enter")

    assert outline == "solid"
    await expect(turn.locator(".state.executed")).to_be_focused()


async def test_each_status_is_heard_once_and_tokens_are_not(
    open_chat: "Open", line: "Line"
) -> None:
    chat = await open_chat()
    await chat.frame.evaluate(
        """() => {
            window.heard = [];
            const note = () => status_.textContent && heard.push(status_.textContent);
            const status_ = document.getElementById("status");
            new MutationObserver(note).observe(status_, {childList: true, characterData: true, subtree: true});
        }"""
    )
    line.pause_s = 0.02

    await chat.ask(LEAVE)

    heard: list[str] = await chat.frame.evaluate("window.heard")
    assert heard[0] == "Starting"
    assert heard[-1] == "The answer is there."
    assert len(heard) == len(set(heard)) <= 5
    assert await chat.frame.locator("#log").get_attribute("aria-live") == "off"
    assert (
        await chat.frame.locator("[aria-live]:not(#log), [role=status], [role=alert]").count() == 1
    )


async def test_the_launcher_gets_the_focus_back(open_chat: "Open") -> None:
    chat = await open_chat(placement="launcher")
    await chat.page.mouse.click(1440 - 48, 900 - 48)
    await chat.ready()
    await expect(chat.composer).to_be_focused()

    await chat.page.keyboard.press("Escape")

    await expect(chat.composer).to_be_hidden()
    assert await chat.page.evaluate("document.activeElement.parentElement.id") == "place"
