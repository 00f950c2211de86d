"""What the host page holds in its hand: open, close, set_context, on; and where the focus goes."""

from typing import TYPE_CHECKING, Any

import pytest
from playwright.async_api import expect

if TYPE_CHECKING:
    from tests.browser.conftest import Chat, Open

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.xdist_group("browser")]

LEAVE = "How much parental leave do I get?"
OWN_BUTTON = """document.body.insertAdjacentHTML("afterbegin", "<button id=own>Help</button><input id=field>");"""
NOTE_ALL = """(() => {
    window.noted = [];
    for (const name of ["ready", "open-state", "run-started", "run-ended", "token-failed"])
        mounted.on(name, (detail) => noted.push([name, detail]));
})()"""


async def noted(chat: "Chat") -> list[Any]:
    found: list[Any] = await chat.page.evaluate("noted.splice(0)")
    return found


async def focused(chat: "Chat") -> str:
    found: str = await chat.page.evaluate(
        "document.activeElement.id || document.activeElement.tagName"
    )
    return found


async def test_a_launcher_is_opened_and_closed_from_the_page_and_gives_the_focus_back(
    open_chat: "Open",
) -> None:
    chat = await open_chat(placement="launcher", script=OWN_BUTTON)
    await chat.page.evaluate(NOTE_ALL)
    await chat.page.focus("#own")

    await chat.page.evaluate("mounted.open()")
    await chat.ready()
    await expect(chat.composer).to_be_focused()
    await chat.page.evaluate("mounted.open()")
    await chat.page.evaluate("mounted.close()")

    await expect(chat.composer).to_be_hidden()
    assert await focused(chat) == "own"
    told = await noted(chat)
    assert [each for each in told if each[0] == "open-state"] == [
        ["open-state", {"open": True}],
        ["open-state", {"open": False}],
    ]
    assert chat.errors == []


async def test_a_docked_surface_takes_no_focus_until_it_is_asked_to(open_chat: "Open") -> None:
    chat = await open_chat(script=OWN_BUTTON + "document.getElementById('field').focus();")
    await chat.page.wait_for_timeout(200)
    assert await focused(chat) == "field"

    await chat.page.evaluate("mounted.open()")
    await expect(chat.composer).to_be_focused()


async def test_closing_a_docked_surface_gives_the_focus_back_and_keeps_the_conversation(
    open_chat: "Open",
) -> None:
    chat = await open_chat(script=OWN_BUTTON)
    await chat.ask(LEAVE)
    await chat.page.focus("#field")
    await chat.page.evaluate("mounted.close()")
    await chat.page.evaluate("mounted.open()")
    await expect(chat.composer).to_be_focused()

    await chat.page.evaluate("mounted.close()")

    assert await focused(chat) == "field"
    await expect(chat.composer).to_be_hidden()
    await chat.page.evaluate("mounted.open()")
    await expect(chat.frame.locator("article")).to_have_count(1)


async def test_the_page_hears_when_a_run_begins_and_ends_and_nothing_of_what_was_said(
    open_chat: "Open",
) -> None:
    chat = await open_chat()
    await chat.page.evaluate(NOTE_ALL)

    await chat.ask(LEAVE)

    assert await noted(chat) == [["run-started", {}], ["run-ended", {}]]


async def test_a_listener_can_be_taken_off_and_one_that_throws_harms_nobody(
    open_chat: "Open",
) -> None:
    chat = await open_chat()
    await chat.page.evaluate(
        """() => {
            window.heard = [];
            mounted.on("run-ended", () => { throw new Error("listener"); });
            const off = mounted.on("run-ended", () => heard.push("removed"));
            mounted.on("run-ended", () => heard.push("kept"));
            off();
        }"""
    )
    said = await chat.page.evaluate(
        "(() => { try { mounted.on('ready', 7); } catch (error) { return error.message; } })()"
    )

    await chat.ask(LEAVE)

    assert await chat.page.evaluate("heard") == ["kept"]
    assert "takes the name of an event and a function" in said
    assert chat.errors == ["listener"]


async def test_the_page_sets_what_is_looked_at_by_reference_alone(open_chat: "Open") -> None:
    chat = await open_chat()
    chip = chat.frame.locator("#chips [data-subject]")
    set_context = "subject => { try { mounted.set_context(subject); } catch (error) { return error.message; } }"

    await chat.page.evaluate(set_context, {"kind": "request", "id": "REQ-4471"})
    await expect(chip).to_contain_text("REQ-4471")
    await chat.page.evaluate(set_context, {"kind": "request", "id": "REQ-9999"})
    await expect(chip).to_have_count(0)
    said = await chat.page.evaluate(
        set_context, {"kind": "request", "id": "REQ-4471", "body": "secret"}
    )
    await chat.page.evaluate(set_context, {"kind": "request", "id": "REQ-4471"})
    await expect(chip).to_have_count(1)
    await chat.page.evaluate(set_context, None)

    await expect(chip).to_have_count(0)
    assert "not body" in said
    await chat.ask(LEAVE)
    assert "subject_ref" not in chat.line.asked[-1]


async def test_a_host_without_a_token_is_told_and_the_person_can_try_again(
    open_chat: "Open",
) -> None:
    failing = "window.fetch = async () => { throw new Error('signed out'); };"
    chat = await open_chat(placement="launcher", script=f"const real = window.fetch; {failing}")
    await chat.page.evaluate(NOTE_ALL)
    await chat.page.evaluate("mounted.open()")
    await expect(chat.frame.locator("#welcome")).to_contain_text("sign-in has run out")
    await expect(chat.frame.get_by_role("button", name="Close")).to_be_visible()

    await chat.page.evaluate("window.fetch = real")
    await chat.frame.get_by_role("button", name="Try again").click()

    await chat.ready()
    told = await noted(chat)
    assert ["token-failed", {}] in told


async def test_after_it_is_unmounted_nothing_is_left(open_chat: "Open") -> None:
    chat = await open_chat(placement="launcher")

    await chat.page.evaluate("mounted.unmount()")

    assert await chat.page.evaluate("document.getElementById('place').childNodes.length") == 0
    assert len(chat.page.frames) == 1
    await chat.page.evaluate("dispatchEvent(new Event('resize'))")
    assert chat.errors == []
