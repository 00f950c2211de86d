"""Text looks while it streams as it does when it is complete."""

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from playwright.async_api import expect

from cogni_surfaces import render_answer

if TYPE_CHECKING:
    from tests.browser.conftest import Line, Open

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.xdist_group("browser")]

WRITTEN = (
    "Everybody gets **20 weeks**, *as the handbook says*, and `code` too.",
    "One.\n\nTwo, over\ntwo lines.\n\n\nThree.",
    "## What applies\n\nThis does.\n### More\nAnd this.",
    "Two things:\n- first\n- **second**, with\n  more of it\n- third\n\nAfter.",
    "1. one\n2. two\n   - deeper\n   - still\n3. three",
    "- a\n\n- b\n\n- c\n\nEnd.",
    "* starred\n* list\n\n---\n\nBelow a rule.",
    "Before.\n\n```python\nx = a ** b\n\ny = [s1]\n```\n\nAfter.",
    "~~~\n**not bold**\n~~~",
    "> quoted *words*\n> go on\n\nAnd out.",
    "| a | b |\n|---|:-:|\n| 1 | **2** |\n| 3 | `4` |\n\nEnd.",
    "Heads:\n| a | b |\n| - | - |\n| 1 | 2 |",
    "A [link](https://intranet.example/a_b) and ![picture](https://x.example/p.png).",
    "***both*** and __strong__ and _em_ and ~~gone~~ and snake_case_name and 2 * 3 * 4.",
    "Open **marks stay what they are\n\nand *these too.",
    "Escaped \\*stars\\* and a `` tick ` inside `` of code.",
    "Line one  \nline two\\\nline three.",
    "Title\n=====\n\nText\n----\nEnd.",
    "<b>no markup</b> <script>alert(1)</script> &lt; 3 &amp; 4 < 5",
    "שלום **עולם** and 会議室の**予約**です。",
    "Stripped: [[CHART:c１]] and [s２] and ［s3］, kept: ［注］ １２３ [note] [[wiki]].",
)
SHOW = """async ([texts, size]) => {
    const {LiveText} = await import("/surface/assets/live.js");
    return texts.map(text => {
        const root = document.createElement("div");
        const live = new LiveText(root, () => null);
        const seen = [];
        for (let at = 0; at < text.length; at += size) {
            live.add(text.slice(at, at + size));
            seen.push(root.textContent);
        }
        return {html: root.innerHTML, seen};
    });
}"""
COPY = """async htmls => {
    const {fromServer} = await import("/surface/assets/dom.js");
    return htmls.map(html => fromServer(html).querySelector(".answer").innerHTML);
}"""
BARE = """htmls => htmls.map(html => {
    const root = new DOMParser().parseFromString(html, "text/html").body;
    for (const table of root.querySelectorAll(".scroll")) table.replaceWith(...table.childNodes);
    for (const node of root.querySelectorAll("*")) for (const {name} of [...node.attributes]) node.removeAttribute(name);
    for (const item of root.querySelectorAll("li > p:only-of-type, li > p")) item.replaceWith(...item.childNodes);
    root.normalize();
    return root.innerHTML.replace(/\\s+/g, " ").replace(/ ?(<[^>]*>) ?/g, "$1");
})"""


@pytest.mark.parametrize("size", [1, 7, 10_000])
async def test_text_looks_while_it_streams_as_it_does_when_it_is_complete(
    open_chat: "Open", size: int
) -> None:
    frame = (await open_chat()).frame

    streamed = [each["html"] for each in await frame.evaluate(SHOW, [WRITTEN, size])]
    complete = await frame.evaluate(COPY, [render_answer({"text": text}) for text in WRITTEN])

    streamed, complete = await frame.evaluate(BARE, streamed), await frame.evaluate(BARE, complete)
    for text, now, then in zip(WRITTEN, streamed, complete, strict=True):
        # what is open at the end may yet be closed
        if "Open **marks" not in text:
            assert now == then, text


async def test_nobody_ever_sees_the_signs_of_markdown(open_chat: "Open") -> None:
    frame = (await open_chat()).frame
    texts = [text for text in WRITTEN[:12] if "```" not in text and "~~~" not in text]

    for shown in await frame.evaluate(SHOW, [texts, 1]):
        for seen in shown["seen"]:
            assert not any(sign in seen for sign in ("*", "`", "##", "|", "- ", "---")), seen


async def test_an_answer_does_not_move_when_it_is_complete(open_chat: "Open", line: "Line") -> None:
    chat, gate = await open_chat(360), asyncio.Event()
    text = "\n\n".join(WRITTEN[:6])
    line.will_answer("marked", text)
    pieces = [("token", {"text": text[at : at + 9]}) for at in range(0, len(text), 9)]
    line.will_tell("marked", *pieces, gate, line.told["marked"][-1])
    await chat.begin("marked")
    await expect(chat.frame.locator(".answer li").last).to_have_text("c")
    await expect(chat.frame.locator(".answer strong").first).to_have_text("20 weeks")
    where: Any = "() => [...document.querySelectorAll('.answer > *, .answer li, #composer')].map(n => [n.localName, Math.round(n.getBoundingClientRect().top)])"
    before = await chat.frame.evaluate(where)

    gate.set()
    await chat.finished()

    after = await chat.frame.evaluate(where)
    top = after[0][1] - before[0][1]
    assert [(name, at + top) for name, at in before[:-1]] == [(name, at) for name, at in after[:-1]]
    assert chat.errors == []
