"""Bytes of office formats, the same each time: no clock, no random boundary, no order of a set."""

import io
import re
import zipfile
from datetime import UTC, datetime
from email.message import EmailMessage

from openpyxl import Workbook
from pptx import Presentation

WRITTEN = datetime(2026, 11, 20, 9, 0, tzinfo=UTC)

Row = list[str | int | float]


def workbook(sheets: dict[str, list[Row]]) -> bytes:
    """Return a workbook, one sheet an entry."""
    book = Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    return repacked(book)


def slides(slides: list[tuple[str, list[str], str]]) -> bytes:
    """Return a deck of (title, points, speaker notes)."""
    deck = Presentation()
    deck.core_properties.created = deck.core_properties.modified = WRITTEN
    for title, points, notes in slides:
        slide = deck.slides.add_slide(deck.slide_layouts[1])
        slide.shapes.title.text = title
        slide.placeholders[1].text = "\n".join(points)
        if notes:
            slide.notes_slide.notes_text_frame.text = notes
    return repacked(deck)


def repacked(document: object) -> bytes:
    """Return the saved container with every date in it fixed, and without the template's thumbnail."""
    saved, fixed = io.BytesIO(), io.BytesIO()
    document.save(saved)  # type: ignore[attr-defined]
    stamp = WRITTEN.strftime("%Y-%m-%dT%H:%M:%SZ").encode()
    with zipfile.ZipFile(saved) as old, zipfile.ZipFile(fixed, "w", zipfile.ZIP_DEFLATED) as new:
        for name in sorted(old.namelist()):
            data = old.read(name)
            if name == "docProps/core.xml":
                data = re.sub(rb"(W3CDTF\">)[^<]*(</dcterms:)", rb"\g<1>" + stamp + rb"\g<2>", data)
            if name == "_rels/.rels":
                data = re.sub(rb"<Relationship [^>]*thumbnail[^>]*/>", b"", data)
            if name != "docProps/thumbnail.jpeg":
                new.writestr(
                    zipfile.ZipInfo(name, (2026, 11, 20, 9, 0, 0)), data, zipfile.ZIP_DEFLATED
                )
    return fixed.getvalue()


def rtf(text: str) -> str:
    """Return text with what is beyond ASCII as RTF escapes."""
    return "".join(c if ord(c) < 128 else f"\\u{ord(c)}?" for c in text)


def mail(subject: str, sender: str, to: str) -> EmailMessage:
    """Return a message with its headers, all of them fixed."""
    mail = EmailMessage()
    mail["Subject"], mail["From"], mail["To"] = subject, sender, to
    mail["Date"] = WRITTEN
    mail["Message-ID"] = f"<{subject.lower().replace(' ', '-').replace(':', '')}@acme.example>"
    return mail


def message(mail: EmailMessage) -> bytes:
    """Return the message as a file."""
    if mail.is_multipart():
        mail.set_boundary("part-of-this-message")
    return mail.as_bytes()


def pdf(title: str, pages: list[list[str]]) -> bytes:
    """Return a PDF of text lines in Helvetica; the first line of a page is its heading."""
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"",
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    kids = []
    for lines in pages:
        text = "\n".join(
            f"/F1 {18 if number == 0 else 11} Tf ({_escaped(line)}) Tj 0 -22 Td"
            for number, line in enumerate(lines)
        )
        stream = f"BT 60 770 Td\n{text}\nET".encode("latin-1")
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream))
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents %d 0 R"
            b" /Resources << /Font << /F1 3 0 R >> >> >>" % len(objects)
        )
        kids.append(b"%d 0 R" % len(objects))
    objects[1] = b"<< /Type /Pages /Kids [%s] /Count %d >>" % (b" ".join(kids), len(kids))
    objects.append(b"<< /Title (%s) >>" % _escaped(title).encode("latin-1"))
    return _numbered(objects)


def _escaped(line: str) -> str:
    return re.sub(r"([\\()])", r"\\\1", line)


def _numbered(objects: list[bytes]) -> bytes:
    """Return the objects with their table of offsets; the last one is the information dictionary."""
    out, offsets = b"%PDF-1.4\n", []
    for number, content in enumerate(objects, start=1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    size = len(objects) + 1
    return (
        out
        + b"xref\n0 %d\n0000000000 65535 f \n%strailer\n<< /Size %d /Root 1 0 R /Info %d 0 R >>\nstartxref\n%d\n%%%%EOF\n"
        % (
            size,
            table,
            size,
            size - 1,
            len(out),
        )
    )
