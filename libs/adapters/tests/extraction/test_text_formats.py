"""Plain text, CSV, Markdown and HTML."""

from collections.abc import Callable
from typing import TypeAlias

import pytest

from cogni_domain.knowledge.extracted import Block, BlockKind, ExtractedDocument, Reason, Skipped

Reader: TypeAlias = Callable[[str, bytes], ExtractedDocument]
Refusal: TypeAlias = Callable[[str, bytes], Skipped]


def texts(found: ExtractedDocument) -> list[str]:
    return [block.text for block in found.blocks]


def kinds(found: ExtractedDocument) -> list[BlockKind]:
    return [block.kind for block in found.blocks]


def test_paragraphs_of_plain_text_know_their_lines(read: Reader) -> None:
    found = read("a.txt", b"\r\none\r\ntwo\r\n\r\n \r\nthree\rfour\r\r five ")

    assert [(block.text, block.locator) for block in found.blocks] == [
        ("one\ntwo", "lines 2-3"),
        ("three\nfour", "lines 6-7"),
        ("five", "line 9"),
    ]


def test_unknown_endings_of_text_are_plain_text(read: Reader) -> None:
    assert read("Makefile", b"all:\n\techo hi\n").media_type == "text/plain"
    assert read("a.yaml", b"key: value\n").media_type == "text/plain"


def test_a_csv_is_rows_under_its_header_and_a_cell_may_hold_line_ends(read: Reader) -> None:
    rows = "".join(f'{n},"Doe, Jane\r{n}",note number {n} of the long list\r' for n in range(60))

    found = read("a.csv", b"\xef\xbb\xbf" + f"id,name,note\r{rows}".encode())

    assert kinds(found) == [BlockKind.TABLE] * len(found.blocks)
    assert len(found.blocks) > 1
    assert all(block.text.startswith("id,name,note\n") for block in found.blocks)
    assert found.blocks[0].text.splitlines()[1].startswith('0,"Doe, Jane 0",note number 0')
    assert found.blocks[0].locator.startswith("rows 1-")
    assert found.blocks[-1].locator.endswith("-61")


def test_a_csv_without_a_header_repeats_none(read: Reader) -> None:
    found = read("a.csv", "".join(f"{n};{n * n};{'x' * 40}\n" for n in range(100)).encode())

    assert len(found.blocks) > 1
    assert sum(block.text.count("\n") + 1 for block in found.blocks) == 100


def test_a_csv_of_tabs_keeps_its_cells_apart(read: Reader) -> None:
    assert texts(read("a.tsv", b"a\tb c\n1\t2\n")) == ["a\tb c\n1\t2"]


def test_a_guessed_encoding_is_said(read: Reader) -> None:
    found = read("a.csv", "name,city\nJosé,São Paulo\n".encode("cp1252"))

    assert "José,São Paulo" in found.blocks[0].text
    assert found.warnings == ("no encoding declared: read as cp1252",)


def test_front_matter_gives_the_title_and_no_text(read: Reader) -> None:
    found = read("a.md", b'---\ntitle: "Time off"\ntags: [x]\n---\n# Rules\n\nAsk first.\n')

    assert found.title == "Time off"
    assert [(block.text, block.locator) for block in found.blocks] == [
        ("Rules", "line 5"),
        ("Ask first.", "line 7"),
    ]


def test_markdown_keeps_lists_tables_code_and_where_links_lead(read: Reader) -> None:
    found = read(
        "a.md",
        b"Use *the* [form](https://x.example/f) or [this](page.md).\n\n"
        b"1. one\n   - inner\n2. two\n\n"
        b"| A | B |\n|---|---|\n| `x` | y |\n\n```python\nif a:\n    b()\n```\n",
    )

    assert [(block.kind, block.text) for block in found.blocks] == [
        (BlockKind.PARAGRAPH, "Use the form (https://x.example/f) or this."),
        (BlockKind.LIST, "- one\n  - inner\n- two"),
        (BlockKind.TABLE, "A | B\nx | y"),
        (BlockKind.CODE, "if a:\n    b()"),
    ]
    assert found.blocks[1].locator == "line 3"
    assert found.blocks[2].locator == "lines 7-9"


def test_what_markdown_does_not_show_is_not_read(read: Reader) -> None:
    found = read("a.md", b"Text\n\n[//]: # (obey)\n\n<!-- obey -->\n\nA <b>bold</b> end\n")

    assert texts(found) == ["Text", "A bold end"]


def test_html_reads_as_its_page_does(read: Reader) -> None:
    found = read(
        "a.html",
        b"<html><head><title>Leave &amp; pay</title><style>p{}</style></head><body>"
        b"<nav>Home</nav><h1>Leave</h1><p>One <b>bold</b> word,<br>then\n more.</p>"
        b"<ul><li>first<ul><li>inner</li></ul></li><li>second</li></ul>"
        b"<table><tr><th>A</th><th>B</th></tr><tr><td>1<p>x</p></td><td></td></tr></table>"
        b"<pre>a\n  b</pre><script>obey()</script><div>loose <a href='https://x.example'>link</a></div>",
    )

    assert found.title == "Leave & pay"
    assert [(block.kind, block.text) for block in found.blocks] == [
        (BlockKind.HEADING, "Leave"),
        (BlockKind.PARAGRAPH, "One bold word,\nthen more."),
        (BlockKind.LIST, "- first\n  - inner\n- second"),
        (BlockKind.TABLE, "A | B\n1 x |"),
        (BlockKind.CODE, "a\n  b"),
        (BlockKind.PARAGRAPH, "loose link (https://x.example)"),
    ]
    assert found.blocks[-1].heading == ("Leave",)


def test_cdata_of_a_macro_is_kept_as_it_is(read: Reader) -> None:
    page = (
        b'<p>Paste this:</p><ac:structured-macro ac:name="code"><ac:plain-text-body><![CDATA['
        b'if (a > b) { open("<valve>") }]]></ac:plain-text-body></ac:structured-macro><p>Done.</p>'
    )

    assert texts(read("page", page)) == ["Paste this:", 'if (a > b) { open("<valve>") }', "Done."]


@pytest.mark.parametrize(
    "hidden",
    [
        '<span style="display:none">obey</span>',
        '<p style="color:#fff;font-size:1px">obey</p>',
        '<div style="VISIBILITY: hidden"><b>obey</b></div>',
        "<p hidden>obey</p>",
        '<p style="opacity: 0">obey</p>',
        "<!-- obey -->",
        "<template>obey</template>",
    ],
)
def test_what_a_page_hides_is_not_read(hidden: str, read: Reader) -> None:
    found = read("a.html", f"<!doctype html>{hidden}Text".encode())

    assert texts(found) == ["Text"]


@pytest.mark.parametrize(
    "shown",
    [
        '<p style="color:#fff;background:#000">yes</p>',
        '<p style="font-size:10px;opacity:0.9">yes</p>',
    ],
)
def test_what_a_page_shows_in_an_odd_style_is_read(shown: str, read: Reader) -> None:
    assert texts(read("a.html", f"<!doctype html>{shown}".encode())) == ["yes"]


def test_a_declared_encoding_is_believed_after_the_mark(read: Reader) -> None:
    page = '<html><meta charset="iso-8859-2"><p>Žluťoučký kůň</p>'

    assert texts(read("a.html", page.encode("iso-8859-2"))) == ["Žluťoučký kůň"]
    assert texts(read("a.html", page.encode("utf-16"))) == ["Žluťoučký kůň"]


def test_deeply_nested_html_is_read(read: Reader) -> None:
    found = read("a.html", b"<!doctype html>" + b"<div>" * 5_000 + b"deep")

    assert texts(found) == ["deep"]


def test_a_page_of_scripts_is_empty(refuse: Refusal) -> None:
    assert refuse("a.html", b"<html><script>x()</script></html>").reason is Reason.EMPTY


def test_right_to_left_text_is_kept_in_its_own_order(read: Reader) -> None:
    text = "שלום \u2067C++\u2069 עולם\u200f! می\u200cخواهم"

    assert read("a.txt", text.encode()).blocks[0] == Block(
        BlockKind.PARAGRAPH, text, locator="line 1"
    )
