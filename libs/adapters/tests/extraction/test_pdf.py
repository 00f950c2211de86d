"""PDF pages: structure, damage, fonts, forms, and what nobody sees."""

import zlib
from collections.abc import Callable
from io import BytesIO
from typing import TypeAlias

import pytest
from pypdf import PdfReader, PdfWriter

from cogni_adapters.extraction.jbig2 import declared_bytes
from cogni_domain.knowledge.extracted import BlockKind, ExtractedDocument, Reason, Skipped

Reader: TypeAlias = Callable[[str, bytes], ExtractedDocument]
Refusal: TypeAlias = Callable[[str, bytes], Skipped]

HELVETICA = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"


def pdf(
    *contents: bytes | tuple[str, bytes],
    font: str = HELVETICA,
    more: str = "",
    extra: tuple[str, ...] = (),
) -> bytes:
    """A file with a page for each content stream; a tuple names the stream's filter.

    Of a file of one page, the first `extra` object has number 6.
    """
    objects = [f"<< /Type /Catalog /Pages 2 0 R {more} >>".encode()]
    kids = " ".join(f"{4 + 2 * n} 0 R" for n in range(len(contents)))
    objects.append(f"<< /Type /Pages /Kids [{kids}] /Count {len(contents)} >>".encode())
    objects.append(font.encode())
    for number, content in enumerate(contents):
        name, data = content if isinstance(content, tuple) else ("", content)
        coded = f"/Filter /{name}" if name else ""
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents {5 + 2 * number} 0 R "
            "/Resources << /Font << /F 3 0 R >> >> >>".encode()
        )
        objects.append(
            f"<< /Length {len(data)} {coded} >>\nstream\n".encode() + data + b"\nendstream"
        )
    objects.extend(entry.encode() for entry in extra)
    out, places = b"%PDF-1.7\n", []
    for number, entry in enumerate(objects, start=1):
        places.append(len(out))
        out += f"{number} 0 obj\n".encode() + entry + b"\nendobj\n"
    start = len(out)
    out += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode()
    out += b"".join(f"{place:010} 00000 n \n".encode() for place in places)
    out += f"trailer << /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF".encode()
    return out


def text_at(x: float, y: float, text: str, size: float = 10) -> bytes:
    return f"BT /F {size} Tf {x} {y} Td ({text}) Tj ET\n".encode("cp1252")


def test_pages_are_headings_and_paragraphs_with_their_page(read: Reader) -> None:
    first = (
        text_at(50, 700, "Leave", 20)
        + text_at(50, 660, "Everyone has thirty days of vaca-")
        + text_at(50, 648, "tion in a year.")
        + text_at(50, 600, "A new paragraph, after a gap.")
        + text_at(300, 20, "1")
    )

    found = read("a.pdf", pdf(first, text_at(50, 700, "On page two.")))

    assert [(block.kind, block.text, block.locator) for block in found.blocks] == [
        (BlockKind.HEADING, "Leave", "page 1"),
        (BlockKind.PARAGRAPH, "Everyone has thirty days of vacation in a year.", "page 1"),
        (BlockKind.PARAGRAPH, "A new paragraph, after a gap.", "page 1"),
        (BlockKind.PARAGRAPH, "On page two.", "page 2"),
    ]
    assert found.blocks[-1].heading == ("Leave",)


def test_a_sentence_goes_on_down_its_column(read: Reader) -> None:
    left = [text_at(50, 700 - 12 * n, f"left line {n} of the first column") for n in range(5)]
    right = [text_at(320, 700 - 12 * n, f"right line {n} of the second one") for n in range(5)]

    found = read("a.pdf", pdf(b"".join(left + right)))

    text = " ".join(" ".join(block.text.split()) for block in found.blocks)
    assert text.index("left line 4") < text.index("right line 0")


def test_a_table_drawn_column_by_column_is_read_by_rows(read: Reader) -> None:
    columns = [
        ("Name", "Ann", "Ben", "Cem"),
        ("City", "Ulm", "Bonn", "Köln"),
        ("Age", "3", "4", "5"),
    ]
    drawn = b"".join(
        text_at(50 + 150 * column, 700 - 14 * row, cell)
        for column, cells in enumerate(columns)
        for row, cell in enumerate(cells)
    )

    (table,) = read("a.pdf", pdf(drawn)).blocks

    assert table.kind is BlockKind.TABLE
    assert table.text.splitlines() == [
        "Name | City | Age",
        "Ann | Ulm | 3",
        "Ben | Bonn | 4",
        "Cem | Köln | 5",
    ]


def test_text_outside_the_page_is_left_out_and_said(read: Reader) -> None:
    found = read("a.pdf", pdf(text_at(50, 900, "obey") + text_at(50, 700, "seen")))

    assert [block.text for block in found.blocks] == ["seen"]
    assert found.warnings == ("text outside the visible page was left out",)


def test_one_bad_page_costs_that_page_and_is_named(read: Reader) -> None:
    packed = zlib.compress(text_at(50, 700, "half of this page is lost") * 50)
    cut = bytes(packed[:40]) + b"\xff" * 40

    found = read("a.pdf", pdf(text_at(50, 700, "good"), ("FlateDecode", cut), b"BT (open"))

    assert "good" in [block.text for block in found.blocks]
    assert "page 2" in found.missing
    assert "page 1" not in found.missing


def test_a_file_of_bad_pages_is_corrupt_and_one_of_pictures_is_empty(refuse: Refusal) -> None:
    assert refuse("a.pdf", pdf(("NoSuchDecode", b"x"))).reason is Reason.CORRUPT
    assert refuse("a.pdf", pdf(b"q 1 0 0 1 0 0 cm Q")).reason is Reason.EMPTY


def test_a_bomb_in_a_page_is_bounded(refuse: Refusal) -> None:
    zeros = zlib.compress(bytes(100 * 2**20), 9)
    image = b"\0\0\0\0\x30\0\x01\0\0\0\x13" + (200_000).to_bytes(4, "big") * 2 + bytes(11)

    assert refuse("a.pdf", pdf(("FlateDecode", zeros))).reason is Reason.BOUNDED
    assert refuse("a.pdf", pdf(("JBIG2Decode", image))).reason is Reason.BOUNDED


def test_the_declared_size_of_an_image_is_read_past_other_segments() -> None:
    other = b"\0\0\0\x01\x00\x21\x00\x01\0\0\0\x02ab"
    page = b"\0\0\0\x02\x30\x00\x01\0\0\0\x13" + b"\0\0\x00\x10\0\0\x00\x08" + bytes(11)

    assert declared_bytes(other + page) == 2 * 8
    assert declared_bytes(b"") == 0
    assert declared_bytes(bytes(range(200))) >= 0


def encrypted(user: str, owner: str) -> bytes:
    writer = PdfWriter(clone_from=PdfReader(BytesIO(pdf(text_at(50, 700, "secret")))))
    writer.encrypt(user, owner, algorithm="AES-256")
    out = BytesIO()
    writer.write(out)
    return out.getvalue()


def test_an_empty_password_opens_and_another_is_asked_for(read: Reader, refuse: Refusal) -> None:
    assert read("a.pdf", encrypted("", "owner")).blocks[0].text == "secret"
    assert refuse("a.pdf", encrypted("user", "owner")).reason is Reason.ENCRYPTED


def test_attached_files_and_the_title_come_out(read: Reader) -> None:
    writer = PdfWriter(clone_from=PdfReader(BytesIO(pdf(text_at(50, 700, "see the file")))))
    writer.add_attachment("figures.csv", b"a,b\n")
    writer.add_metadata({"/Title": "The plan"})
    out = BytesIO()
    writer.write(out)

    found = read("a.pdf", out.getvalue())

    assert [(entry.name, entry.data) for entry in found.attachments] == [("figures.csv", b"a,b\n")]
    assert found.title == "The plan"


def test_values_of_a_form_are_text(read: Reader) -> None:
    fields = ("<< /FT /Tx /T (city) /TU (Your city) /V (Ulm) >>", "<< /FT /Btn /T (x) /V /Off >>")
    form = "/AcroForm << /Fields [6 0 R 7 0 R] >>"

    found = read("a.pdf", pdf(text_at(50, 700, "Form"), more=form, extra=fields))

    assert (found.blocks[-1].text, found.blocks[-1].locator) == ("Your city | Ulm", "form fields")


COMPOSITE = (
    "<< /Type /Font /Subtype /Type0 /BaseFont /X /Encoding /Identity-V /DescendantFonts [<< /Type /Font "
    "/Subtype /CIDFontType2 /BaseFont /X /CIDSystemInfo << /Registry (Adobe) /Ordering ({}) /Supplement 1 >> >>] >>"
)
GLYPHS = b"BT /F 10 Tf 50 700 Td <0cd40e8a07a0034b0022> Tj ET"


def test_glyph_numbers_of_a_japanese_collection_are_told(read: Reader) -> None:
    found = read("a.pdf", pdf(GLYPHS, font=COMPOSITE.format("Japan1")))

    assert found.blocks[0].text == "日本語あA"


def test_glyph_numbers_that_nothing_explains_are_never_text(refuse: Refusal, read: Reader) -> None:
    font = COMPOSITE.format("Identity")

    assert refuse("a.pdf", pdf(GLYPHS, font=font)).reason is Reason.CORRUPT


@pytest.mark.parametrize("data", [b"%PDF-1.7", b"%PDF-1.7\n%%EOF", b"%PDF-" + bytes(range(256))])
def test_the_beginning_of_a_pdf_is_not_a_pdf(data: bytes, refuse: Refusal) -> None:
    assert refuse("a.pdf", data).reason is Reason.CORRUPT
