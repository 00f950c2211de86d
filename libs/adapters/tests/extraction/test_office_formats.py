"""Word, PowerPoint, Excel and RTF: small files written part by part."""

from collections.abc import Callable
from io import BytesIO
from typing import TypeAlias
from zipfile import ZIP_LZMA, ZIP_STORED, ZipFile

import pytest

from cogni_domain.knowledge.extracted import BlockKind, ExtractedDocument, Reason, Skipped

Reader: TypeAlias = Callable[[str, bytes], ExtractedDocument]
Refusal: TypeAlias = Callable[[str, bytes], Skipped]
Pack: TypeAlias = Callable[..., bytes]

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
STRICT_W = 'xmlns:w="http://purl.oclc.org/ooxml/wordprocessingml/main"'
R = 'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
S = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
P = 'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"'
A = 'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
WORD, SHEETS, SLIDES = (
    "wordprocessingml.document",
    "spreadsheetml.sheet",
    "presentationml.presentation",
)


def run(text: str) -> str:
    return f'<w:r><w:t xml:space="preserve">{text}</w:t></w:r>'


def paragraph(text: str, properties: str = "") -> str:
    return f"<w:p><w:pPr>{properties}</w:pPr>{run(text)}</w:p>"


def word_body(content: str, namespace: str = W) -> str:
    return f"<w:document {namespace} {R}><w:body>{content}</w:body></w:document>"


def blocks(found: ExtractedDocument) -> list[tuple[BlockKind, str]]:
    return [(block.kind, block.text) for block in found.blocks]


def test_word_headings_lists_and_tables_keep_their_order(read: Reader, pack: Pack) -> None:
    styles = (
        f'<w:styles {W}><w:style w:styleId="berschrift1"><w:name w:val="heading 1"/></w:style>'
        '<w:style w:styleId="Own"><w:basedOn w:val="berschrift1"/></w:style>'
        '<w:style w:styleId="T"><w:name w:val="Title"/></w:style></w:styles>'
    )
    cell = "<w:tc><w:p><w:r><w:t>{}</w:t></w:r></w:p></w:tc>"
    body = (
        paragraph("The plan", '<w:pStyle w:val="T"/>')
        + paragraph("Part", '<w:pStyle w:val="Own"/>')
        + paragraph("one", "<w:numPr/>")
        + paragraph("inner", '<w:numPr><w:ilvl w:val="1"/></w:numPr>')
        + f"<w:tbl><w:tr>{cell.format('A')}{cell.format('B')}</w:tr>"
        f"<w:tr>{cell.format('1')}<w:tc><w:tbl><w:tr>{cell.format('in')}</w:tr></w:tbl></w:tc></w:tr></w:tbl>"
        + paragraph("Sub", '<w:outlineLvl w:val="1"/>')
        + paragraph("end")
    )

    found = read(
        "a.docx",
        pack(
            WORD,
            "word/document.xml",
            {"word/document.xml": word_body(body), "word/styles.xml": styles},
            [("word/document.xml", "styles", "styles.xml")],
        ),
    )

    assert blocks(found) == [
        (BlockKind.HEADING, "The plan"),
        (BlockKind.HEADING, "Part"),
        (BlockKind.LIST, "- one\n  - inner"),
        (BlockKind.TABLE, "A | B\n1 |"),
        (BlockKind.TABLE, "in"),
        (BlockKind.HEADING, "Sub"),
        (BlockKind.PARAGRAPH, "end"),
    ]
    assert found.blocks[-1].heading == ("The plan", "Part", "Sub")
    assert found.title == "The plan"


def test_word_text_is_found_wherever_the_file_nests_it(read: Reader, pack: Pack) -> None:
    control = "<w:sdt><w:sdtContent>{}</w:sdtContent></w:sdt>"
    body = (
        control.format(control.format(paragraph("in controls")))
        + f"<w:p>{control.format(run('inline'))} <w:ins>{run(' added')}</w:ins>"
        + "<w:del><w:r><w:delText>deleted</w:delText></w:r></w:del>"
        + f"<w:moveFrom>{run('moved')}</w:moveFrom>"
        + "<w:r><w:rPr><w:vanish/></w:rPr><w:t>hidden</w:t></w:r>"
        + f'<w:hyperlink r:id="r1">{run(" link")}</w:hyperlink>'
        + "<w:r><w:instrText>PAGE</w:instrText><w:tab/><w:t>x</w:t><w:br/></w:r>"
        + f"<w:r><w:txbxContent>{paragraph('in a box')}</w:txbxContent></w:r></w:p>"
    )

    found = read(
        "a.docx",
        pack(
            WORD,
            "word/document.xml",
            {"word/document.xml": word_body(body, STRICT_W)},
            [("word/document.xml", "hyperlink", "https://x.example/")],
            ("https://x.example/",),
        ),
    )

    assert [block.text for block in found.blocks] == [
        "in controls",
        "inline added link (https://x.example/)\tx",
        "in a box",
    ]
    assert found.warnings == ("text that the document hides was left out",)


def test_word_notes_follow_their_paragraph_and_margins_end_the_document(
    read: Reader, pack: Pack
) -> None:
    note = f'<w:footnotes {W}><w:footnote w:id="2"><w:p>{run("the note")}</w:p></w:footnote></w:footnotes>'
    header = f"<w:hdr {W}><w:p>{run('Confidential')}</w:p><w:p>{run('7')}</w:p></w:hdr>"
    body = f'<w:p>{run("Said")}<w:r><w:footnoteReference w:id="2"/></w:r></w:p>' + paragraph("Next")

    found = read(
        "a.docx",
        pack(
            WORD,
            "word/document.xml",
            {
                "word/document.xml": word_body(body),
                "word/footnotes.xml": note,
                "word/h1.xml": header,
                "word/h2.xml": header,
                "word/comments.xml": f"<w:comments {W}/>",
                "word/embeddings/inner.xlsx": b"PK...",
            },
            [
                ("word/document.xml", "footnotes", "footnotes.xml"),
                ("word/document.xml", "header", "h1.xml"),
                ("word/document.xml", "header", "h2.xml"),
                ("word/document.xml", "comments", "comments.xml"),
                ("word/document.xml", "package", "embeddings/inner.xlsx"),
            ],
        ),
    )

    assert [(block.text, block.locator) for block in found.blocks] == [
        ("Said", ""),
        ("the note", "footnote 2"),
        ("Next", ""),
        ("Confidential", "header"),
    ]
    assert found.warnings == ("comments were left out",)
    assert [(entry.name, entry.data) for entry in found.attachments] == [("inner.xlsx", b"PK...")]


def test_a_damaged_side_part_makes_a_word_file_partial(read: Reader, pack: Pack) -> None:
    found = read(
        "a.docx",
        pack(
            WORD,
            "word/document.xml",
            {"word/document.xml": word_body(paragraph("text")), "word/footnotes.xml": "<broken"},
            [("word/document.xml", "footnotes", "footnotes.xml")],
        ),
    )

    assert found.missing == ("footnotes",)


def sheet(rows: str, **more: str) -> dict[str, str]:
    return {
        "xl/workbook.xml": f'<workbook {S} {R}><sheets><sheet name="Pay" sheetId="9" r:id="r1"/></sheets></workbook>',
        "xl/s.xml": f'<worksheet {S}><dimension ref="A1:XFD1048576"/><sheetData>{rows}</sheetData></worksheet>',
        **more,
    }


SHEET = ("xl/workbook.xml", "worksheet", "s.xml")


def test_a_sheet_is_read_as_it_is_seen(read: Reader, pack: Pack) -> None:
    strings = (
        f"<sst {S}><si><t>Name</t></si><si><r><t>日本</t></r><r><t>車</t></r>"
        '<rPh sb="0" eb="1"><t>クルマ</t></rPh></si></sst>'
    )
    styles = (
        f'<styleSheet {S}><numFmts><numFmt numFmtId="170" formatCode="0.0 &quot;kg&quot;"/></numFmts>'
        '<cellXfs><xf numFmtId="0"/><xf numFmtId="4"/><xf numFmtId="170"/><xf numFmtId="14"/></cellXfs></styleSheet>'
    )
    rows = (
        '<row r="2"><c r="B2" t="s"><v>0</v></c><c r="C2" t="inlineStr"><is><t>Sum</t></is></c></row>'
        '<row r="3"><c r="B3" t="s"><v>1</v></c><c r="C3" s="1"><v>1599.99</v></c><c r="E3" s="2"><v>2</v></c></row>'
        '<row r="9"><c r="B9" t="b"><v>1</v></c><c r="C9" s="3"><v>45000</v></c><c r="D9" t="e"><v>#N/A</v></c></row>'
        '<row r="1048576"><c r="XFD1048576"/></row>'
    )

    found = read(
        "a.xlsx",
        pack(
            SHEETS,
            "xl/workbook.xml",
            sheet(rows, **{"xl/t.xml": strings, "xl/y.xml": styles}),
            [
                SHEET,
                ("xl/workbook.xml", "sharedStrings", "t.xml"),
                ("xl/workbook.xml", "styles", "y.xml"),
            ],
        ),
    )

    assert blocks(found) == [
        (BlockKind.HEADING, "Pay"),
        (BlockKind.TABLE, "Name | Sum\n日本車 | 1,599.99 | | 2.0 kg\nTRUE | 3/15/2023 | #N/A"),
    ]
    assert found.blocks[1].locator == "Pay!B2:E9"


def test_a_long_sheet_is_blocks_under_its_header(read: Reader, pack: Pack) -> None:
    rows = '<row r="1"><c r="A1" t="str"><v>Key</v></c><c r="B1" t="str"><v>Value</v></c></row>'
    rows += "".join(
        f'<row r="{n}"><c r="A{n}"><v>{n}</v></c><c r="B{n}" t="str"><v>{"v" * 30}</v></c></row>'
        for n in range(2, 200)
    )

    found = read("a.xlsx", pack(SHEETS, "xl/workbook.xml", sheet(rows), [SHEET]))

    tables = found.blocks[1:]
    assert len(tables) > 3
    assert all(block.text.startswith("Key | Value\n") for block in tables)
    assert tables[0].locator.startswith("Pay!A1:B")
    assert tables[-1].locator.endswith(":B199")


@pytest.mark.parametrize(
    "row",
    [
        '<row r="5"><c r="A5" t="str"><v>a</v></c><c r="XFD5" t="str"><v>z</v></c></row>',
        '<row><c t="str"><v>a</v></c><c><v></v></c><c t="str"><v>z</v></c></row>',
    ],
)
def test_a_wide_gap_is_one_empty_cell(row: str, read: Reader, pack: Pack) -> None:
    found = read("a.xlsx", pack(SHEETS, "xl/workbook.xml", sheet(row), [SHEET]))

    assert found.blocks[1].text == "a | | z"


def test_a_book_of_blank_sheets_is_empty(refuse: Refusal, pack: Pack) -> None:
    data = pack(SHEETS, "xl/workbook.xml", sheet('<row r="1"><c r="A1" s="1"/></row>'), [SHEET])

    assert refuse("a.xlsx", data).reason is Reason.EMPTY


def test_a_damaged_sheet_is_missing_and_the_next_is_read(read: Reader, pack: Pack) -> None:
    parts = sheet('<row r="1"><c r="A1" t="str"><v>ok</v></c></row>')
    parts["xl/workbook.xml"] = (
        f'<workbook {S} {R}><sheets><sheet name="Bad" sheetId="1" r:id="r2"/>'
        '<sheet name="Pay" sheetId="2" state="hidden" r:id="r1"/></sheets></workbook>'
    )
    parts["xl/bad.xml"] = f"<worksheet {S}><sheetData><row"

    found = read(
        "a.xlsx",
        pack(
            SHEETS, "xl/workbook.xml", parts, [SHEET, ("xl/workbook.xml", "worksheet", "bad.xml")]
        ),
    )

    assert found.missing == ("sheet Bad",)
    assert found.blocks[-1].text == "ok"
    assert found.warnings == ("the sheet Pay is hidden in the file, and was read",)


def test_slides_have_titles_bullets_merged_cells_groups_and_notes(read: Reader, pack: Pack) -> None:
    def shape(kind: str, *texts: str) -> str:
        lines = "".join(f"<a:p><a:r><a:t>{text}</a:t></a:r></a:p>" for text in texts)
        return f'<p:sp><p:nvSpPr><p:nvPr><p:ph type="{kind}"/></p:nvPr></p:nvSpPr><p:txBody>{lines}</p:txBody></p:sp>'

    cell = "<a:tc{}><a:txBody><a:p><a:r><a:t>{}</a:t></a:r></a:p></a:txBody></a:tc>"
    table = (
        f"<p:graphicFrame><a:tbl><a:tr>{cell.format(' gridSpan=&quot;2&quot;'.replace('&quot;', chr(34)), 'both')}"
        f"{cell.format(' hMerge=' + chr(34) + '1' + chr(34), '')}</a:tr><a:tr>{cell.format('', 'l')}{cell.format('', 'r')}</a:tr></a:tbl></p:graphicFrame>"
    )
    tree = f"<p:sld {P} {A} {{}}><p:cSld><p:spTree>{{}}</p:spTree></p:cSld></p:sld>"
    free = (
        "<p:grpSp><p:sp><p:txBody><a:p><a:r><a:t>free</a:t></a:r></a:p></p:txBody></p:sp></p:grpSp>"
    )
    first = tree.format(
        "",
        shape("body", "one", "two") + shape("title", "Plan") + free + table + shape("sldNum", "1"),
    )
    second = tree.format('show="0"', shape("ctrTitle", "Next"))

    found = read(
        "a.pptx",
        pack(
            SLIDES,
            "ppt/p.xml",
            {
                "ppt/p.xml": f'<p:presentation {P} {R}><p:sldIdLst><p:sldId id="256" r:id="r1"/>'
                '<p:sldId id="257" r:id="r2"/><p:sldId id="258" r:id="r3"/></p:sldIdLst></p:presentation>',
                "ppt/1.xml": first,
                "ppt/2.xml": second,
                "ppt/3.xml": "<broken",
                "ppt/n.xml": tree.format("", shape("body", "say it slowly") + shape("sldNum", "1")),
            },
            [
                ("ppt/p.xml", "slide", "1.xml"),
                ("ppt/p.xml", "slide", "2.xml"),
                ("ppt/p.xml", "slide", "3.xml"),
                ("ppt/1.xml", "notesSlide", "n.xml"),
            ],
        ),
    )

    assert [(block.text, block.heading, block.locator) for block in found.blocks] == [
        ("Plan", ("Plan",), "slide 1"),
        ("- one\n- two", ("Plan",), "slide 1"),
        ("free", ("Plan",), "slide 1"),
        ("both\nl | r", ("Plan",), "slide 1"),
        ("say it slowly", ("Plan",), "slide 1 notes"),
        ("Next", ("Next",), "slide 2"),
    ]
    assert found.missing == ("slide 3",)
    assert found.warnings == ("slide 2 is hidden in the show, and was read",)
    assert found.title == "Plan"


def test_macros_are_said_and_not_read(read: Reader, pack: Pack) -> None:
    found = read(
        "a.docm",
        pack(
            WORD,
            "word/d.xml",
            {"word/d.xml": word_body(paragraph("text")), "word/vba.bin": b"Sub AutoOpen()"},
            [("word/d.xml", "vbaProject", "vba.bin")],
        ),
    )

    assert found.warnings == ("the file holds macros: they were neither run nor read",)


def zipped(members: dict[str, bytes], method: int = ZIP_STORED) -> bytes:
    file = BytesIO()
    with ZipFile(file, "w", method) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return file.getvalue()


def test_an_archive_that_is_no_document_is_unsupported(refuse: Refusal) -> None:
    assert refuse("a.docx", zipped({"x.txt": b"x"})).reason is Reason.UNSUPPORTED


def test_bombs_are_refused_before_they_are_inflated(refuse: Refusal, pack: Pack) -> None:
    zeros = bytes(300 * 2**20)
    flat = pack(WORD, "word/d.xml", {"word/d.xml": zeros})
    many = zipped({f"{n}": b"" for n in range(10_001)})

    assert refuse("a.docx", flat).reason is Reason.BOUNDED
    assert refuse("a.docx", many).reason is Reason.BOUNDED


def test_a_member_that_is_larger_than_it_says_is_corrupt(refuse: Refusal, pack: Pack) -> None:
    data = pack(WORD, "word/d.xml", {"word/d.xml": word_body(paragraph("x" * 5_000))})
    at = data.rindex(b"PK\x01\x02", 0, data.rindex(b"PK\x05\x06"))
    lied = data[: at + 24] + (100).to_bytes(4, "little") + data[at + 28 :]

    assert refuse("a.docx", lied).reason is Reason.CORRUPT


def test_odd_packing_is_refused(refuse: Refusal) -> None:
    assert (
        refuse("a.docx", zipped({"[Content_Types].xml": b"<x/>"}, ZIP_LZMA)).reason
        is Reason.CORRUPT
    )


def test_rtf_keeps_tables_and_its_code_page(read: Reader) -> None:
    found = read(
        "a.rtf",
        rb"{\rtf1\ansi\ansicpg1250{\info{\title The plan}}za\'bf\'f3\'b3\'e6 \u8364?\par "
        rb"\trowd\cellx1\cellx2 A\cell B\cell\row}",
    )

    assert found.title == "The plan"
    assert blocks(found) == [(BlockKind.PARAGRAPH, "zażółć €"), (BlockKind.TABLE, "A | B")]


def test_an_old_office_file_says_what_to_do(refuse: Refusal) -> None:
    ole = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(512)

    assert refuse("a.doc", ole).reason is Reason.UNSUPPORTED
    assert ".docx" in refuse("a.doc", ole).explanation
    locked = ole + "EncryptedPackage".encode("utf-16-le")
    assert refuse("a.docx", locked).reason is Reason.ENCRYPTED
