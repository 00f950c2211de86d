"""By keyboard, by screen reader, in both colour schemes."""

import asyncio
from typing import TYPE_CHECKING

import pytest
from playwright.async_api import Route, expect

if TYPE_CHECKING:
    from tests.browser.conftest import Line, Open, Serious

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.xdist_group("browser")]

LEAVE = "How much parental leave do I get?"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1440])
async def test_axe_finds_nothing_serious(
    open_chat: "Open", width: int, scheme: str, serious: "Serious"
) -> None:
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


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_axe_finds_nothing_serious_in_the_rarer_states(
    open_chat: "Open", line: "Line", serious: "Serious", scheme: str
) -> None:
    chat = await open_chat(360, scheme=scheme, locale="de")
    found: dict[str, list[str]] = {}
    gate = asyncio.Event()
    line.will_answer("streams", "All of it.\n\n| a | b |\n|---|---|\n| 1 | 2 |")
    line.will_tell("streams", ("token", {"text": "All of"}), gate, line.told["streams"][-1])
    read = {"call_id": "x", "name": "read_file", "arguments": {"path": "a/b.md"}}
    echo = {**read, "execution_time": 0.2, "result": {"content": "one\ntwo", "range": [1, 2]}}
    line.will_answer("tool", "Read.")
    line.will_tell("tool", ("tool_completed", echo), line.told["tool"][-1], run="r2")
    line.will_answer("stopped", "What there was.", kind="halted", message="Stopped.")
    line.will_answer("failed", "", kind="failed", message="Something went wrong.")
    line.will_answer("refused", "Nothing found.", kind="refused", message="Nothing found.")
    line.will_answer("gone", "See [[CHART:c1]].", markers=[{"marker": "[[CHART:c1]]"}])

    await chat.begin("streams")
    await expect(chat.frame.locator(".answer")).to_contain_text("All of")
    found["streaming"] = await serious(chat)
    gate.set()
    for question in ("tool", "stopped", "failed", "refused", "gone"):
        await chat.finished()
        await chat.ask(question)
    await chat.frame.locator("details.card summary").click()
    await chat.page.route(
        "**/v1/turns",
        lambda route: route.fulfill(status=429, headers={"Retry-After": "60"}, body="{}"),
    )
    await chat.ask("limited")
    note = {"name": "notes.txt", "mimeType": "text/plain", "buffer": b"x"}
    answer = '{"title": "Diese Datei ist leer."}'
    await chat.page.route("**/attachments*", lambda route: route.fulfill(status=422, body=answer))
    await chat.frame.locator("#file").set_input_files([note])
    await expect(chat.frame.locator("#chips .bad")).to_be_visible()
    found["all"] = await serious(chat)

    assert found == {"streaming": [], "all": []}


async def test_stopping_and_trying_again_work_by_keyboard(open_chat: "Open", line: "Line") -> None:
    chat, gate = await open_chat(), asyncio.Event()
    line.will_answer("stops", "What there was.", kind="halted", message="Stopped.")
    line.will_tell("stops", ("token", {"text": "What"}), gate, line.told["stops"][-1])

    async def stop(route: Route) -> None:
        gate.set()
        await route.fulfill(status=202)

    await chat.page.route("**/stop", stop)
    press = chat.page.keyboard.press
    await chat.composer.focus()
    await chat.page.keyboard.type("stops")
    await press("Enter")
    await expect(chat.frame.locator(".answer")).to_contain_text("What")
    await chat.page.wait_for_timeout(600)

    await press("Tab")
    await expect(chat.frame.get_by_role("button", name="Stop")).to_be_focused()
    await press("Enter")
    turn = await chat.finished()
    await expect(chat.frame.get_by_role("button", name="Send")).to_be_focused()
    line.will_answer("stops", "All of it.")
    again = turn.locator(".note").get_by_role("button", name="Ask again")
    for _ in range(20):
        await press("Shift+Tab")
        if await again.evaluate("node => node === document.activeElement"):
            break
    await press("Enter")

    last = await chat.finished()
    await expect(last.locator(".answer")).to_have_text("All of it.")


async def test_cards_tables_and_feedback_work_by_keyboard(open_chat: "Open", line: "Line") -> None:
    chat = await open_chat(360)
    rows = "\n".join(f"| row {n} | {n} |" for n in range(40))
    done = {"call_id": "x", "name": "look", "arguments": {}, "execution_time": 0.1, "result": "ok"}
    line.will_answer("table", f"| a | b |\n|---|---|\n{rows}")
    line.will_tell("table", ("tool_completed", done), line.told["table"][-1])
    turn = await chat.ask("table")
    sent: list[str] = []

    async def note(route: Route) -> None:
        sent.append(route.request.post_data or "")
        await route.fulfill(status=204)

    await chat.page.route("**/feedback", note)
    seen: list[str] = []
    for _ in range(12):
        await chat.page.keyboard.press("Shift+Tab")
        seen.append(
            await chat.frame.evaluate(
                "(n => n.localName + (n.className && '.' + n.className))(document.activeElement)"
            )
        )
        if seen[-1].startswith("summary"):
            break
    await chat.page.keyboard.press("Enter")

    await expect(turn.locator("details.card")).to_have_attribute("open", "")
    assert "div.scroll" in seen
    bad = turn.get_by_role("button", name="Bad answer")
    await bad.focus()
    await chat.page.keyboard.press("Enter")
    await expect(turn.get_by_label("It is not right")).to_be_focused()
    await chat.page.keyboard.press("Space")
    await turn.locator("form").get_by_role("button", name="Send").focus()
    await chat.page.keyboard.press("Enter")
    await expect(bad).to_be_focused()
    assert '"incorrect"' in sent[0]
