import json
import os
import re
from collections.abc import Mapping, Sequence
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogni_surfaces import GENERATED_LABEL, disclosed, render_answer
from cogni_surfaces.renderer import TAGS
from cogni_surfaces.texts import FRESHNESS_UNKNOWN, NO_SOURCES

SHARED = Path(os.environ.get("COGNI_SHARED", Path(__file__).parents[5] / "shared"))
ATTACKS = SHARED / "data" / "injection.jsonl"

LEAVE: Mapping[str, object] = {
    "handle": "s1",
    "label": "Parental leave",
    "locator": "Section 2",
    "document_id": "d1",
}
CHART: Mapping[str, object] = {"marker": "[[CHART:c3]]", "kind": "CHART", "payload": {}}

OURS = {
    "div": {"class", "dir"},
    "sup": {"class", "data-handle"},
    "span": {"class", "data-kind", "data-ref"},
    "ul": {"class"},
    "li": {"data-handle"},
    "p": {"class"},
    "time": {"datetime"},
    "bdi": set(),
}
"""What the renderer itself adds; nothing else has an attribute."""

VOID = {"br", "hr"}


class Page(HTMLParser):
    """What a browser makes of it, read strictly: every tag is closed in its turn."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self._open: list[str] = []
        self.feed(html)
        self.close()
        assert not self._open, f"left open: {self._open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data}")

    def of_class(self, name: str) -> list[dict[str, str | None]]:
        return [attributes for _, attributes in self.tags if attributes.get("class") == name]

    def assert_harmless(self) -> None:
        for tag, attributes in self.tags:
            assert tag in TAGS | OURS.keys()
            assert set(attributes) <= OURS.get(tag, set())
            assert all(re.fullmatch(r"[\w:+-]*", value or "") for value in attributes.values())


def outcome(
    text: str, citations: Sequence[object] = (), markers: Sequence[object] = ()
) -> dict[str, object]:
    return {
        "text": text,
        "citations": list(citations),
        "markers": list(markers),
        "indexed_through": "2026-03-02T09:00:00+00:00",
    }


def body(text: str, citations: Sequence[object] = (), markers: Sequence[object] = ()) -> str:
    """Return what became of the text alone."""
    html = render_answer(outcome(text, citations, markers))
    found = re.match(r'<div class="answer" dir="auto">(.*?)\n?</div>', html, re.DOTALL)
    assert found is not None
    return found[1]


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("**16** *weeks* ~~12~~", "<p><strong>16</strong> <em>weeks</em> <s>12</s></p>"),
        ("# Leave", "<h1>Leave</h1>"),
        ("- a\n- b", "<ul>\n<li>a</li>\n<li>b</li>\n</ul>"),
        ("`x < y`", "<p><code>x &lt; y</code></p>"),
        ("```python\nx = '<b>'\n```", "<pre><code>x = '&lt;b&gt;'\n</code></pre>"),
        ("> said", "<blockquote>\n<p>said</p>\n</blockquote>"),
        ("a & b", "<p>a &amp; b</p>"),
        ("إجازة الوالدين ١٦ أسبوعا", "<p>إجازة الوالدين ١٦ أسبوعا</p>"),
        ("育儿假为**十六周**。", "<p>育儿假为<strong>十六周</strong>。</p>"),
        ("👩‍🔬 🏴󠁧󠁢󠁥󠁮󠁧󠁿 می‌خواهم", "<p>👩‍🔬 🏴󠁧󠁢󠁥󠁮󠁧󠁿 می‌خواهم</p>"),
        ("", ""),
    ],
)
def test_markdown_becomes_html(text: str, html: str) -> None:
    assert body(text) == html


def test_a_table_becomes_a_table_without_styles() -> None:
    html = body("| a | b |\n|:--|--:|\n| 1 | **2** |")

    assert html.replace("\n", "") == (
        "<table><thead><tr><th>a</th><th>b</th></tr></thead>"
        "<tbody><tr><td>1</td><td><strong>2</strong></td></tr></tbody></table>"
    )


def test_the_direction_of_a_text_is_its_own() -> None:
    assert '<div class="answer" dir="auto">' in render_answer(outcome("إجازة"))


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        '<p style="background:url(//evil.example)">x</p>',
        "<!-- hidden -->",
        '<a href="javascript:alert(1)">x</a>',
        "<svg/onload=alert(1)>",
        "<table><td background=//evil.example>",
        "\x00<scr\x00ipt>alert(1)</script>",
        "&lt;script&gt;alert(1)&lt;/script&gt;",
        "```html\n<script>alert(1)</script>\n```",
    ],
)
def test_html_is_shown_as_text(text: str) -> None:
    found = Page(render_answer(outcome(text)))

    found.assert_harmless()
    assert not {tag for tag, _ in found.tags} & {"script", "img", "svg", "td", "a"}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("[the page](https://wiki.example/a)", "the page (https://wiki.example/a)"),
        ("[https://wiki.example](https://wiki.example)", "https://wiki.example"),
        ("[a **b**](https://x.example 'title')", "a <strong>b</strong> (https://x.example)"),
        ("![chart](https://evil.example/x.png)", "!chart (https://evil.example/x.png)"),
        ("[x](javascript:alert(1))", "[x](javascript:alert(1))"),
        ("[x](data:text/html,hi)", "[x](data:text/html,hi)"),
        ("<https://wiki.example>", "&lt;https://wiki.example&gt;"),
        ("[s1](https://evil.example)", "s1 (https://evil.example)"),
        ("[](https://evil.example)", " (https://evil.example)"),
    ],
)
def test_a_link_is_text_with_its_address(text: str, shown: str) -> None:
    assert body(text, [LEAVE]).strip() in (f"<p>{shown}</p>", f"<p>{shown.strip()}</p>")


def test_a_reference_link_stays_as_it_is_written() -> None:
    html = body("[here][r]\n\n[r]: https://evil.example/x")

    assert html == "<p>[here][r]</p>\n<p>[r]: https://evil.example/x</p>"


def test_a_handle_of_the_outcome_becomes_a_source_mark() -> None:
    assert body("16 weeks [s1].", [LEAVE]) == (
        '<p>16 weeks <sup class="source" data-handle="s1">1</sup>.</p>'
    )


@pytest.mark.parametrize("handle", ["[s2]", "[s11]", "[s9]"])
def test_a_handle_that_the_outcome_does_not_cite_goes(handle: str) -> None:
    assert body(f"16 weeks {handle}.", [LEAVE]) == "<p>16 weeks .</p>"


def test_a_marker_of_the_outcome_becomes_the_place_of_its_widget() -> None:
    assert body("See [[CHART:c3]]", markers=[CHART]) == (
        '<p>See <span class="widget" data-kind="CHART" data-ref="c3"></span></p>'
    )


@pytest.mark.parametrize("marker", ["[[CHART:c4]]", "[[TABLE:c3]]"])
def test_a_marker_that_the_outcome_does_not_have_goes(marker: str) -> None:
    assert body(f"See {marker}.", markers=[CHART]) == "<p>See .</p>"


@pytest.mark.parametrize(
    "text",
    [
        "[[Wiki]]",
        "[s01]",
        "[S1]",
        "[s1",
        "s1]",
        "[[CHART:3]]",
        "［注］ １２３ ｓ1",
        "［［維基］］",
        "[ｗｅｂ]",
    ],
)
def test_what_only_resembles_a_handle_or_a_marker_is_text(text: str) -> None:
    assert body(text, [LEAVE], [CHART]) == f"<p>{text}</p>"


@pytest.mark.parametrize(
    "text",
    [
        *("[ｓ1]", "［s1］", "[s１]", "[s\u0661]"),
        *("[[CHART:c３]]", "［［CHART:c3］］", "[[ＣＨＡＲＴ：c3]]"),
    ],
)
def test_what_looks_like_one_to_the_eye_alone_goes(text: str) -> None:
    assert body(f"So {text}.", [LEAVE], [CHART]) == "<p>So .</p>"


@pytest.mark.parametrize("code", ["`row[s1]`", "    row[s1]", "```\n[[CHART:c3]]\n```"])
def test_in_code_nothing_is_replaced(code: str) -> None:
    found = Page(render_answer(outcome(code, [LEAVE], [CHART])))

    assert not found.of_class("source")
    assert not found.of_class("widget")


def test_after_code_handles_are_replaced_again() -> None:
    assert body("`x` [s1]", [LEAVE]).count("data-handle") == 1


def test_every_source_is_listed_with_its_place() -> None:
    pay = {**LEAVE, "handle": "s8", "label": "الرواتب", "locator": ""}
    html = render_answer(outcome("x", [LEAVE, pay]))

    assert '<li data-handle="s1">1: <bdi>Parental leave</bdi>, <bdi>Section 2</bdi></li>' in html
    assert '<li data-handle="s8">2: <bdi>الرواتب</bdi></li>' in html


def test_the_sources_of_an_answer_count_from_one_however_far_the_conversation_has_counted() -> None:
    late = {**LEAVE, "handle": "s12"}
    html = render_answer(outcome("16 weeks [s12], paid [s9].", [late, {**LEAVE, "handle": "s9"}]))

    assert 'weeks <sup class="source" data-handle="s12">1</sup>' in html
    assert 'paid <sup class="source" data-handle="s9">2</sup>' in html
    assert '<li data-handle="s12">1: ' in html


def test_a_title_cannot_break_out_of_the_list() -> None:
    title = '"><script>alert(1)</script></bdi></li></ul>[s1] \ud800'
    found = Page(render_answer(outcome("x", [{**LEAVE, "label": title, "handle": "s1"}])))

    found.assert_harmless()
    assert "<script>alert(1)</script>" in found.text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "answer",
        "</div></p>",
        "```",
        "<div hidden>",
        "<!--",
        "<style>p{display:none}</style>",
        "|",
    ],
)
def test_sources_freshness_and_label_cannot_be_left_out(text: str) -> None:
    found = Page(render_answer(outcome(text, [LEAVE])))

    assert [len(found.of_class(c)) for c in ("sources", "freshness", "generated")] == [1, 1, 1]
    assert found.text.endswith(f"Sources read up to 2026-03-02 09:00 UTC.{GENERATED_LABEL}")


def test_an_answer_without_sources_or_freshness_says_so() -> None:
    text = Page(render_answer({"text": "x"})).text

    assert NO_SOURCES in text
    assert FRESHNESS_UNKNOWN in text


def test_what_is_disclosed_has_the_label_whatever_the_outcome_says() -> None:
    forged = {**outcome("x"), "generated_label": "Written by a person", "html": "<b>x</b>"}
    shown = disclosed(forged)

    assert shown["generated_label"] == GENERATED_LABEL
    assert GENERATED_LABEL in str(shown["html"])
    assert {**shown, "html": "", "generated_label": ""} == {
        **forged,
        "html": "",
        "generated_label": "",
    }


def rows(*families: str) -> list[object]:
    """Return the texts of attacks as test parameters; one that is skipped where the data is not there."""
    if not ATTACKS.exists():
        skip = pytest.mark.skip(reason="no data/injection.jsonl in COGNI_SHARED")
        return [pytest.param("", marks=skip)]
    found = [json.loads(line) for line in ATTACKS.read_text().splitlines()]
    return [pytest.param(row["text"], id=row["id"]) for row in found if row["family"] in families]


@pytest.mark.parametrize("text", rows("markdown_exfil", "html_xss", "markdown_js", "render_exfil"))
def test_nothing_that_is_known_to_leak_becomes_more_than_text(text: str) -> None:
    Page(render_answer(outcome(text, [LEAVE], [CHART]))).assert_harmless()


@pytest.mark.parametrize("text", rows("citation_spoof", "marker_spoof"))
def test_no_spoofed_handle_or_marker_becomes_a_mark(text: str) -> None:
    found = Page(render_answer(outcome(text)))

    found.assert_harmless()
    assert not found.of_class("source")
    assert not found.of_class("widget")


WRITTEN = (
    "[s1] [s2] [[CHART:c3]] <b > ` ```\n [a]( https://x ) ![ | \n -\t ** ~~ &lt; \" ' <script> </p>"
)
PIECES = st.sampled_from([*WRITTEN.split(" "), "\u202e", "مرحبا", "\x00"])
TEXTS = st.lists(PIECES | st.text(max_size=5), max_size=25).map("".join)


@given(TEXTS)
def test_whatever_is_written_the_page_is_whole_and_harmless(text: str) -> None:
    found = Page(render_answer(outcome(text, [LEAVE], [CHART])))

    found.assert_harmless()
    assert {mark["data-handle"] for mark in found.of_class("source")} <= {"s1"}
    assert {mark["data-ref"] for mark in found.of_class("widget")} <= {"c3"}
    assert len(found.of_class("generated")) == 1
