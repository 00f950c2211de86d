"""OpenDocument files, written part by part."""

from collections.abc import Callable
from io import BytesIO
from typing import TypeAlias
from zipfile import ZipFile

import pytest

from cogni_domain.knowledge.extracted import BlockKind, ExtractedDocument, Reason, Skipped

Reader: TypeAlias = Callable[[str, bytes], ExtractedDocument]
Refusal: TypeAlias = Callable[[str, bytes], Skipped]

NAMES = " ".join(
    f'xmlns:{prefix}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
    for prefix, name in (
        ("office", "office"), ("text", "text"), ("table", "table"), ("draw", "drawing"),
        ("presentation", "presentation"), ("manifest", "manifest"),
    )
)  # fmt: skip
LINKS = 'xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:dc="http://purl.org/dc/elements/1.1/"'
MEDIA = "application/vnd.oasis.opendocument."
KINDS = {"text": "text", "spreadsheet": "spreadsheet", "presentation": "presentation"}


def odf(kind: str, content: str, prologue: str = "", **parts: str) -> bytes:
    body = (
        f"{prologue}<office:document-content {NAMES} {LINKS}><office:body><office:{kind}>{content}"
        f"</office:{kind}></office:body></office:document-content>"
    )
    file = BytesIO()
    with ZipFile(file, "w") as archive:
        archive.writestr("mimetype", MEDIA + kind)
        archive.writestr("content.xml", body)
        for name, text in parts.items():
            archive.writestr({"meta": "meta.xml", "manifest": "META-INF/manifest.xml"}[name], text)
    return file.getvalue()


def blocks(found: ExtractedDocument) -> list[tuple[BlockKind, str]]:
    return [(block.kind, block.text) for block in found.blocks]


H, P, L, T = BlockKind.HEADING, BlockKind.PARAGRAPH, BlockKind.LIST, BlockKind.TABLE


def test_a_text_keeps_headings_lists_tables_notes_and_links_in_order(read: Reader) -> None:
    cell = "<table:table-cell><text:p>{}</text:p></table:table-cell>"
    found = read(
        "plan.odt",
        odf(
            "text",
            "<text:tracked-changes><text:p>deleted</text:p></text:tracked-changes>"
            '<text:h text:outline-level="1">The plan</text:h>'
            '<text:p>Two<text:s text:c="2"/>spaces,\n  a<text:tab/>tab, <text:span>a '
            '<text:a xlink:href="https://x.example/f">form</text:a></text:span>'
            '<text:note text:note-class="footnote"><text:note-citation>1</text:note-citation>'
            "<text:note-body><text:p>See below.</text:p></text:note-body></text:note>"
            "<office:annotation><text:p>A comment.</text:p></office:annotation>.</text:p>"
            "<text:list><text:list-item><text:p>one</text:p><text:list><text:list-item>"
            "<text:p>inner</text:p></text:list-item></text:list></text:list-item></text:list>"
            "<table:table><table:table-header-rows><table:table-row>"
            f"{cell.format('Name')}{cell.format('Days')}</table:table-row></table:table-header-rows>"
            f"<table:table-row>{cell.format('Ana')}{cell.format('20')}</table:table-row></table:table>"
            '<text:section><text:h text:outline-level="2">Part</text:h><text:p>end</text:p></text:section>'
            "<text:p><draw:frame><draw:text-box><text:p>boxed</text:p></draw:text-box></draw:frame></text:p>",
            meta=f"<m {LINKS}><dc:title>Leave plan</dc:title></m>",
        ),
    )

    assert found.title == "Leave plan"
    assert found.media_type == MEDIA + "text"
    assert blocks(found) == [
        (H, "The plan"),
        (P, "Two  spaces, a\ttab, a form (https://x.example/f)."),
        (P, "See below."),
        (L, "- one\n  - inner"),
        (T, "Name | Days\nAna | 20"),
        (H, "Part"),
        (P, "end"),
        (P, "boxed"),
    ]
    assert found.blocks[2].locator == "footnote 1"
    assert found.blocks[6].heading == ("The plan", "Part")
    assert found.warnings == ("comments were left out",)


def test_a_sheet_shows_what_a_person_sees_and_skips_what_is_blank(read: Reader) -> None:
    found = read(
        "costs.ods",
        odf(
            "spreadsheet",
            '<table:table table:name="Costs"><table:table-row>'
            "<table:table-cell><text:p>Item</text:p></table:table-cell>"
            "<table:table-cell><text:p>Euro</text:p></table:table-cell></table:table-row>"
            '<table:table-row table:number-rows-repeated="2"><table:table-cell/></table:table-row>'
            "<table:table-row><table:table-cell><text:p>Tea</text:p>"
            "<office:annotation><text:p>cheap</text:p></office:annotation></table:table-cell>"
            '<table:covered-table-cell/><table:table-cell table:number-columns-repeated="2">'
            "<text:p>1,20 €</text:p></table:table-cell>"
            '<table:table-cell table:number-columns-repeated="16000"/></table:table-row>'
            '<table:table-row table:number-rows-repeated="1048570"><table:table-cell/></table:table-row>'
            "</table:table>",
        ),
    )

    assert blocks(found) == [(T, "Item | Euro\nTea | | 1,20 € | 1,20 €")]
    assert found.blocks[0].locator == "Costs!A1:D4"
    assert (found.missing, found.warnings) == ((), ("comments were left out",))


def test_a_row_that_is_repeated_without_end_is_bounded_and_named(read: Reader) -> None:
    row = (
        '<table:table-row table:number-rows-repeated="1000000"><table:table-cell>'
        "<text:p>x</text:p></table:table-cell></table:table-row>"
    )
    found = read("a.ods", odf("spreadsheet", f'<table:table table:name="S">{row}</table:table>'))

    assert sum(block.text.count("x") for block in found.blocks) == 1_000
    assert found.missing == ("rows of sheet S that are repeated more than 1000 times",)


def test_slides_are_sections_with_their_titles_first_and_notes_last(read: Reader) -> None:
    found = read(
        "show.odp",
        odf(
            "presentation",
            "<draw:page><draw:frame><draw:text-box><text:list><text:list-item><text:p>point</text:p>"
            "</text:list-item></text:list></draw:text-box></draw:frame>"
            '<draw:frame presentation:class="title"><draw:text-box><text:p>Why</text:p></draw:text-box>'
            "</draw:frame><presentation:notes><draw:frame><draw:text-box><text:p>Say hello.</text:p>"
            "</draw:text-box></draw:frame></presentation:notes></draw:page>"
            "<draw:page><draw:custom-shape><text:p>shape</text:p></draw:custom-shape></draw:page>",
        ),
    )

    assert [(b.kind, b.text, b.locator) for b in found.blocks] == [
        (H, "Why", "slide 1"),
        (L, "- point", "slide 1"),
        (P, "Say hello.", "slide 1 notes"),
        (P, "shape", "slide 2"),
    ]
    assert found.title == "Why"


@pytest.mark.parametrize("kind", KINDS)
def test_a_password_an_entity_and_an_empty_file_are_told_apart(refuse: Refusal, kind: str) -> None:
    locked = f"<m {NAMES}><manifest:encryption-data/></m>"
    entity = '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>'

    assert refuse("a.odt", odf(kind, "", manifest=locked)).reason is Reason.ENCRYPTED
    assert refuse("a.odt", odf(kind, "<text:p>&e;</text:p>", entity)).reason is Reason.CORRUPT
    assert refuse("a.odt", odf(kind, "")).reason is Reason.EMPTY
    assert refuse("a.odt", b"PK\x03\x04 cut off").reason is Reason.CORRUPT


def test_what_nests_without_end_is_bounded(refuse: Refusal) -> None:
    deep = "<text:section>" * 5_000 + "</text:section>" * 5_000

    assert refuse("a.odt", odf("text", deep)).reason in (Reason.BOUNDED, Reason.CORRUPT)
