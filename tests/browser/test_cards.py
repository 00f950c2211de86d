"""How a tool's bounded echo looks."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pytest
from playwright.async_api import expect

from cogni_engine import ui_preview

if TYPE_CHECKING:
    from tests.browser.conftest import Chat, Line, Open

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.xdist_group("browser")]


def completed(name: str, arguments: Mapping[str, object], result: object) -> Any:
    """Return the event of a call; a mapping is echoed with its structure, as `read_file` is."""
    data = {"call_id": "x", "name": name, "arguments": arguments, "execution_time": 0.24}
    return "tool_completed", {**data, "result": ui_preview(result, name="read_file")}


async def card_of(chat: "Chat", line: "Line", name: str, arguments: Any, result: object) -> Any:
    """Return the opened card of one call."""
    line.will_answer("work", "Done.")
    line.will_tell("work", completed(name, arguments, result), *line.told["work"][1:])
    turn = await chat.ask("work")
    card = turn.locator("details.card").last
    await card.locator("summary").click()
    return card


async def test_a_file_that_was_read_shows_path_range_and_content(
    open_chat: "Open", line: "Line"
) -> None:
    chat = await open_chat(360)
    content = "def fee(days):\n    return days * 3\n" + "x = 1\n" * 200
    given = {"path": "src/billing/late fees.py"}

    result = {"content": content, "range": [1, 202]}
    card = await card_of(chat, line, "read_file", given, result)

    await expect(card.locator("summary")).to_contain_text("read file")
    await expect(card.locator("summary .sub")).to_have_text("late fees.py")
    await expect(card.locator("summary .sub-time")).to_have_text("0.2 s")
    await expect(card.locator("p.sub")).to_have_text("src/billing/late fees.py · Lines 1–202")
    assert await card.locator("pre").text_content() == content
    assert await card.locator("dl").count() == 0
    box = await card.locator("pre").bounding_box()
    assert box is not None
    assert box["height"] <= 320
    assert "{" not in await card.locator("> div").inner_text()


async def test_an_empty_file_and_one_that_was_cut_say_so(open_chat: "Open", line: "Line") -> None:
    chat = await open_chat()

    empty = await card_of(chat, line, "read_file", {"path": "a.txt"}, {"content": ""})
    await expect(empty).to_contain_text("Empty")
    cut = {"content": "begin", "content_cut_after_bytes": 262_144}
    long = await card_of(chat, line, "read_file", {"path": "b.txt"}, cut)

    await expect(long).to_contain_text("Only the beginning is shown.")


async def test_a_file_that_could_not_be_read_says_why(open_chat: "Open", line: "Line") -> None:
    chat = await open_chat()

    card = await card_of(chat, line, "read_file", {"path": "gone.txt"}, {"error": "No such file."})

    await expect(card).to_contain_text("No such file.")


async def test_a_patch_shows_its_statistics(open_chat: "Open", line: "Line") -> None:
    chat = await open_chat()
    results: tuple[object, ...] = (
        {"ok": True, "diff": {"added": 12, "removed": 3}},
        {"ok": True, "additions": 12, "deletions": 3},
        {"ok": True, "stats": {"insertions": 12, "deletions": 3}},
        '{"ok":true,"diff":{"added":12,"removed":3}}',
    )

    for result in results:
        card = await card_of(chat, line, "patch_file", {"file": "docs\\guides\\leave.md"}, result)

        await expect(card.locator("summary .sub")).to_have_text("leave.md")
        await expect(card).to_contain_text("12 added, 3 removed")
        assert await card.locator("pre").count() == 0


async def test_the_subtitle_is_the_last_part_of_a_path_or_empty(
    open_chat: "Open", line: "Line"
) -> None:
    chat = await open_chat()
    cases: tuple[tuple[object, str | None], ...] = (
        ({"path": "/srv/notes/"}, "notes"),
        ({"path": ""}, ""),
        ({"path": "///"}, ""),
        ({"path": None}, ""),
        ({"path": 7}, "7"),
        ({"path": {"deep": 1}}, None),
        ({}, ""),
        (None, ""),
    )

    for given, subtitle in cases:
        card = await card_of(chat, line, "read_file", given, {"content": "x"})

        shown = await card.locator("summary .sub").text_content()
        assert shown == subtitle or subtitle is None, given
    assert chat.errors == []


async def test_done_is_a_plain_check_mark(open_chat: "Open", line: "Line") -> None:
    chat = await open_chat()

    card = await card_of(chat, line, "patch_file", {"path": "a.md"}, {"ok": True})

    marks = card.locator("summary svg use")
    await expect(marks).to_have_count(1)
    await expect(marks).to_have_attribute("href", "#i-check")
    assert await card.locator("summary").inner_text() == "patch file\na.md\n0.2 s"


async def test_what_a_tool_says_is_text_and_never_markup(open_chat: "Open", line: "Line") -> None:
    chat = await open_chat()
    evil = "<img src=x onerror=alert(1)><b>bold</b>"

    card = await card_of(chat, line, "read_file", {"path": evil}, {"content": evil})

    assert await card.locator("img, b").count() == 0
    assert await card.locator("pre").text_content() == evil
