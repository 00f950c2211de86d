"""What a person does with the assistant, at the widths of a phone, a tablet and a desk."""

import asyncio
import re
from typing import TYPE_CHECKING, Any

import pytest
from playwright.async_api import expect

if TYPE_CHECKING:
    from tests.browser.conftest import Line, Open

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.xdist_group("browser")]
WIDTHS = pytest.mark.parametrize("width", [360, 768, 1440])

LEAVE = "How much parental leave do I get?"
HEADCOUNT = "How many people work in Engineering?"
BOOK = "Please book leave from 2027-02-{} to 2027-02-{}"


async def no_sideways_scroll(chat: Any) -> bool:
    fits: bool = await chat.frame.evaluate(
        "document.documentElement.scrollWidth <= innerWidth && log.scrollWidth <= log.clientWidth"
    )
    return fits


@WIDTHS
async def test_an_answer_has_its_label_freshness_sources_that_open_and_widgets_in_their_places(
    open_chat: "Open", width: int
) -> None:
    chat = await open_chat(width)

    turn = await chat.ask(LEAVE)

    await expect(turn.locator(".answer")).to_contain_text("20 weeks of parental leave")
    await expect(turn.locator(".fine")).to_contain_text("Sources read up to")
    await expect(turn.locator(".fine")).to_contain_text("Generated answer")
    assert await no_sideways_scroll(chat)
    await opens_and_gives_the_focus_back(chat, turn.locator(".chip").first)

    charted = await chat.ask(HEADCOUNT)

    table = charted.locator(".answer .widget table")
    await expect(table).to_be_attached()
    assert "[[CHART" not in await charted.inner_text()
    assert "142" in (await table.text_content() or "")
    assert await no_sideways_scroll(chat)
    assert chat.errors == []


async def opens_and_gives_the_focus_back(chat: Any, chip: Any) -> None:
    await chip.click()
    panel = chat.frame.get_by_role("dialog")
    await expect(panel.locator(".passage")).to_contain_text("20 weeks of parental leave")
    await expect(panel.locator("h2")).to_be_focused()
    await chat.page.keyboard.press("Escape")
    await expect(panel).to_be_hidden()
    await expect(chip).to_be_focused()


async def test_something_is_said_at_once_and_text_is_there_before_the_answer_is_complete(
    open_chat: "Open", line: "Line"
) -> None:
    chat = await open_chat()
    line.held = asyncio.Event()

    await chat.begin(LEAVE)

    await expect(chat.frame.locator("#status")).to_have_text(
        re.compile("Starting|Searching|Writing")
    )
    await expect(chat.frame.locator(".answer p.live")).to_contain_text("From")
    await expect(chat.frame.locator("article .generated")).to_be_visible()
    assert await chat.frame.locator("#log").get_attribute("aria-busy") == "true"
    line.held.set()
    await chat.finished()
    assert await chat.frame.locator("#log").get_attribute("aria-busy") == "false"


async def test_a_source_that_may_not_be_read_any_more_says_so(open_chat: "Open") -> None:
    chat = await open_chat()
    turn = await chat.ask(LEAVE)
    await chat.page.route("**/citations/*", lambda route: route.fulfill(status=404, body="{}"))

    await turn.locator(".chip").first.click()

    await expect(chat.frame.get_by_role("dialog")).to_contain_text("can no longer open this source")


@WIDTHS
async def test_a_change_is_made_once_it_is_accepted_and_not_where_it_is_declined(
    open_chat: "Open", width: int
) -> None:
    chat = await open_chat(width, person={360: "hr-lead", 768: "engineer", 1440: "hr-lead"}[width])
    day = {360: "01", 768: "01", 1440: "02"}[width]
    turn = await chat.ask(BOOK.format(day, day))
    accept = turn.get_by_role("button", name="Accept", exact=True)
    await expect(turn.locator(".proposal")).to_contain_text("Book annual leave")
    await expect(turn.locator(".proposal")).to_contain_text("You can decide until")
    await expect(turn.locator(".proposal dl").last).to_contain_text(f"2027-02-{day}")

    await expect(turn.locator(".proposal")).to_contain_text("It would be done with")
    await expect(accept).to_have_attribute("aria-disabled", "false")
    await accept.hover()
    await chat.frame.wait_for_timeout(700)
    await expect(accept).to_have_attribute("aria-disabled", "false")
    await accept.click()

    await expect(turn.locator(".state.executed")).to_have_text("Done.", timeout=10_000)
    await expect(turn.locator(".state.executed")).to_be_focused()
    await expect(accept).to_have_count(0)

    other = await chat.ask(BOOK.format("10", "10"))
    await other.get_by_role("button", name="Decline").click()
    await expect(other.locator(".state")).to_have_text("Declined. Nothing was changed.")


@WIDTHS
async def test_stop_stands_where_send_was_and_keeps_what_there_is(
    open_chat: "Open", line: "Line", width: int
) -> None:
    chat = await open_chat(width)
    line.held = asyncio.Event()
    await chat.begin(LEAVE)
    await expect(chat.frame.locator(".answer p.live")).to_contain_text("From")
    await chat.page.wait_for_timeout(600)

    stop = chat.frame.get_by_role("button", name="Stop")
    await stop.click()

    line.held.set()
    turn = await chat.finished()
    await expect(chat.frame.get_by_role("button", name="Send")).to_be_visible()
    await expect(turn.locator(".fine")).to_contain_text("Generated answer")


@WIDTHS
async def test_a_reload_in_mid_answer_goes_on_with_it(
    open_chat: "Open", line: "Line", width: int
) -> None:
    chat = await open_chat(width)
    line.held = asyncio.Event()
    await chat.begin(LEAVE)
    await expect(chat.frame.locator(".answer p.live")).to_contain_text("From")
    await chat.composer.fill("half a thought")

    line.held.set()
    await chat.page.reload()
    await chat.ready()

    turn = await chat.finished()
    await expect(turn.locator(".question")).to_have_text(LEAVE)
    await expect(turn.locator(".answer")).to_contain_text("20 weeks")
    await expect(chat.composer).to_have_value("half a thought")
    assert await chat.frame.locator("article").count() == 1
    assert len(line.asked) == 1


async def test_a_lost_connection_is_taken_up_again_without_a_gap(
    open_chat: "Open", line: "Line"
) -> None:
    chat = await open_chat()
    line.cut_after = 6

    turn = await chat.ask(LEAVE)

    await expect(turn.locator(".answer")).to_contain_text("From the sources: You get 20 weeks")
    assert line.resumed == ["6"]
    assert len(line.asked) == 1


@WIDTHS
async def test_another_person_sees_nothing_of_the_one_before(open_chat: "Open", width: int) -> None:
    chat = await open_chat(width)
    await chat.ask(LEAVE)
    await chat.composer.fill("a secret draft")
    await chat.page.context.add_cookies(
        [{"name": "person", "value": "engineer", "url": chat.line.intranet}]
    )

    await chat.page.reload()
    await chat.ready()

    assert await chat.frame.locator("article").count() == 0
    await expect(chat.composer).to_have_value("")
    await chat.frame.get_by_role("button", name="Your conversations").click()
    await expect(chat.frame.get_by_role("dialog")).not_to_contain_text("secret")


async def test_ones_own_conversations_are_listed_and_reopened(open_chat: "Open") -> None:
    chat = await open_chat()
    await chat.ask(LEAVE)
    await chat.frame.get_by_role("button", name="New conversation").click()
    assert await chat.frame.locator("article").count() == 0

    await chat.frame.get_by_role("button", name="Your conversations").click()
    await chat.frame.locator(".conversations button", has_text=LEAVE).first.click()

    turn = chat.frame.locator("article").last
    await expect(turn.locator(".question")).to_have_text(LEAVE)
    await expect(turn.locator(".chip").first).to_be_visible()


async def test_a_refusal_says_what_to_do_next(open_chat: "Open") -> None:
    chat = await open_chat()

    turn = await chat.ask("What is the airspeed of a swallow on Mars?")

    await expect(turn).to_contain_text("I found nothing about this")
    await expect(turn.locator(".note")).to_contain_text("other words")
    await expect(turn.locator(".generated")).to_have_count(0)


async def test_a_failure_is_labelled_as_generated_only_where_something_was(
    open_chat: "Open", line: "Line"
) -> None:
    chat = await open_chat()
    broke = "It broke. Report r1."
    line.will_answer("nothing", broke, kind="failed", message=broke)
    line.will_answer("something", f"Half of it.\n\n{broke}", kind="failed", message=broke)

    await chat.ask("nothing")
    await chat.ask("something")

    nothing, something = (chat.frame.locator("article").nth(n) for n in (0, 1))
    await expect(nothing).to_contain_text(broke)
    await expect(nothing.locator(".generated")).to_have_count(0)
    await expect(something).to_contain_text("Half of it.")
    await expect(something.locator(".generated")).to_be_visible()


async def test_a_start_without_a_connection_says_so_and_can_be_tried_again(
    open_chat: "Open",
) -> None:
    chat = await open_chat()
    await chat.page.route("**/v1/surface", lambda route: route.abort())
    await chat.page.reload()
    welcome = chat.frame.locator("#welcome")

    await expect(welcome).to_contain_text("There is no connection.")
    await expect(welcome).not_to_contain_text("question")
    await chat.page.unroute("**/v1/surface")
    await welcome.get_by_role("button", name="Try again").click()

    await chat.ready()
    await chat.ask(LEAVE)


async def test_a_limit_says_when_to_try_again(open_chat: "Open") -> None:
    chat = await open_chat()
    await chat.page.route(
        "**/v1/turns",
        lambda route: route.fulfill(
            status=429, headers={"Retry-After": "2"}, body='{"title": "That was a lot today."}'
        ),
    )

    turn = await chat.ask(LEAVE)

    await expect(turn.locator(".note")).to_contain_text("That was a lot today.")
    again = turn.get_by_role("button", name="Try again")
    await expect(again).to_be_disabled()
    await expect(turn.locator(".note")).to_contain_text("Try again in")
    await expect(turn.locator(".generated")).to_have_count(0)
    await expect(again).to_be_enabled(timeout=5000)


async def test_a_token_that_runs_out_is_renewed_once(open_chat: "Open") -> None:
    chat = await open_chat()
    refused: list[str] = []

    async def refuse_once(route: Any) -> None:
        if refused:
            await route.fallback()
            return
        refused.append(route.request.url)
        await route.fulfill(status=401, body="{}")

    await chat.page.route("**/v1/turns", refuse_once)

    turn = await chat.ask(LEAVE)

    await expect(turn.locator(".answer")).to_contain_text("20 weeks")
    assert len(refused) == 1


async def test_a_tool_is_shown_by_its_echo(open_chat: "Open") -> None:
    chat = await open_chat()
    turn = await chat.ask("What is the status of REQ-4471?")
    card = turn.locator("details.card")

    await expect(card.locator(".sub")).to_have_text("REQ-4471")
    await card.locator("summary").click()

    await expect(card).to_contain_text("Meters in Delft")


async def test_a_chart_is_a_picture_with_its_data_beside_it(open_chat: "Open") -> None:
    chat = await open_chat()

    turn = await chat.ask(HEADCOUNT)

    picture = turn.locator(".answer .widget img")
    await expect(picture).to_be_visible(timeout=15_000)
    assert (await picture.get_attribute("src") or "").startswith("blob:")
    assert await picture.evaluate("async image => (await image.decode(), image.naturalWidth > 0)")
    await turn.locator(".widget summary").click()
    await expect(turn.locator(".widget table")).to_be_visible()


async def test_a_document_of_ones_own_goes_with_the_conversation(open_chat: "Open") -> None:
    chat = await open_chat()
    await chat.ask(LEAVE)
    note = {"name": "my notes.txt", "mimeType": "text/plain", "buffer": b"My locker is number 77."}

    await chat.frame.locator("#file").set_input_files([note])

    chip = chat.frame.locator("#chips li[data-document]")
    await expect(chip).to_have_text("my notes.txt", timeout=10_000)
    await chip.get_by_role("button", name="Remove my notes.txt").click()
    await expect(chip).to_have_count(0)


async def test_what_the_person_looks_at_goes_along_until_they_remove_it(
    open_chat: "Open", line: "Line"
) -> None:
    subject = {"kind": "request", "id": "REQ-4471"}
    chat = await open_chat(subject_ref=subject)
    await chat.ask(LEAVE)

    await chat.frame.locator("#chips [data-subject] button").click()
    await chat.ask(LEAVE)

    assert [asked.get("subject_ref") for asked in line.asked] == [subject, None]


async def test_feedback_has_reasons(open_chat: "Open") -> None:
    chat = await open_chat()
    turn = await chat.ask(LEAVE)

    await turn.get_by_role("button", name="Bad answer").click()
    await turn.get_by_label("It is out of date").check()
    await turn.locator("form").get_by_role("button", name="Send").click()

    await expect(chat.frame.locator("#status")).to_have_text("Thank you. It is noted.")
    await expect(turn.get_by_role("button", name="Bad answer")).to_have_attribute(
        "aria-pressed", "true"
    )
