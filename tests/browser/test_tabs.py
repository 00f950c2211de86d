"""Two tabs of one conversation."""

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from playwright.async_api import expect

if TYPE_CHECKING:
    from tests.browser.conftest import Chat, Line, Open

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.xdist_group("browser")]

LEAVE = "How much parental leave do I get?"
TRAVEL = "What may a hotel cost?"
BOOK = "Please book leave from 2027-05-03 to 2027-05-03"


async def beside(chat: "Chat", question: str) -> "Chat":
    """Open a second tab at the conversation that began with a question."""
    other = await chat.tab()
    await other.frame.get_by_role("button", name="Your conversations").click()
    await other.frame.locator(".conversations button", has_text=question).first.click()
    await expect(other.frame.locator("article .generated").last).to_be_visible()
    return other


async def questions(chat: "Chat") -> list[str]:
    found: list[str] = await chat.frame.locator("article .question").all_inner_texts()
    return found


async def accepts(chat: "Chat") -> Any:
    accept = chat.frame.get_by_role("button", name="Accept", exact=True)
    await chat.page.bring_to_front()
    await expect(accept).to_have_attribute("aria-disabled", "false", timeout=10_000)
    return accept


async def test_both_tabs_show_the_same_turns_and_what_is_asked_in_one_appears_in_the_other(
    open_chat: "Open",
) -> None:
    chat = await open_chat()
    await chat.ask(LEAVE)
    other = await beside(chat, LEAVE)
    assert await questions(other) == await questions(chat)
    await other.composer.fill("half a thought")

    await chat.ask(TRAVEL)

    await expect(other.frame.locator("article")).to_have_count(2)
    there = await other.finished()
    await expect(there.locator(".question")).to_have_text(TRAVEL)
    answer = await chat.frame.locator("article").last.locator(".answer").inner_text()
    await expect(there.locator(".answer")).to_have_text(answer, use_inner_text=True)
    await expect(other.composer).to_have_value("half a thought")
    assert (chat.errors, other.errors) == ([], [])


async def test_two_questions_at_once_are_both_in_both_tabs(open_chat: "Open", line: "Line") -> None:
    chat = await open_chat()
    await chat.ask(LEAVE)
    other = await beside(chat, LEAVE)
    line.pause_s = 0.05

    await asyncio.gather(chat.begin(TRAVEL), other.begin("Who answers at night?"))

    line.pause_s = 0
    for tab in (chat, other):
        await expect(tab.frame.locator("article .actions button:first-child")).to_have_count(
            3, timeout=10_000
        )
        assert set(await questions(tab)) == {LEAVE, TRAVEL, "Who answers at night?"}


async def test_another_conversation_and_another_person_hear_nothing(open_chat: "Open") -> None:
    chat = await open_chat()
    await chat.ask(LEAVE)
    fresh = await chat.tab()
    await chat.page.context.add_cookies(
        [{"name": "person", "value": "engineer", "url": chat.line.intranet}]
    )
    stranger = await chat.tab()

    await chat.ask(TRAVEL)
    await chat.page.wait_for_timeout(300)

    assert await questions(fresh) == await questions(stranger) == []


async def test_a_change_accepted_in_two_tabs_is_made_once(open_chat: "Open") -> None:
    chat = await open_chat()
    await chat.ask(BOOK)
    other = await beside(chat, BOOK)
    accept, again = await accepts(chat), await accepts(other)

    await again.click()
    await chat.page.bring_to_front()
    await accept.click()

    for tab in (chat, other):
        await expect(tab.frame.locator(".proposal .state")).to_have_text("Done.", timeout=15_000)
    await chat.page.goto(f"{chat.line.intranet}/time-off")
    await expect(chat.page.get_by_text("Monday, 3 May 2027")).to_have_count(1)
