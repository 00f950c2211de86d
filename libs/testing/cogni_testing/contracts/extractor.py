"""What every `ExtractorPort` promises."""

import asyncio
import unicodedata
from abc import ABC, abstractmethod
from email.message import EmailMessage
from io import BytesIO
from zipfile import ZIP_DEFLATED, ZipFile

import pytest

from cogni_domain.knowledge.extracted import (
    BlockKind,
    ExtractedDocument,
    ExtractionLimits,
    Reason,
    Skipped,
)
from cogni_domain.ports.extractor import ExtractorPort

SMALL = ExtractionLimits(file_bytes=200_000, text_characters=1_000, attachments=2)

_PACKAGE_TYPES = (
    b'<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Override '
    b'PartName="/d.xml" ContentType="application/vnd.openxmlformats-officedocument.'
    b'wordprocessingml.document.main+xml"/></Types>'
)
_PACKAGE_RELATIONS = (
    b'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    b'<Relationship Id="r1" Target="d.xml" Type="http://schemas.openxmlformats.org/'
    b'officeDocument/2006/relationships/officeDocument"/></Relationships>'
)
_WORD = b'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


class ExtractorContract(ABC):
    """Any file, also one made to harm, ends as a document or as a reason."""

    @abstractmethod
    def make_extractor(self, limits: ExtractionLimits) -> ExtractorPort:
        """Return the extractor under test. The inheriting test ends what it starts."""

    async def read(self, name: str, data: bytes) -> ExtractedDocument:
        """Extract a file that must give a document."""
        found = await self.make_extractor(ExtractionLimits()).extract(name, data)
        assert isinstance(found, ExtractedDocument), found
        return found

    async def refuse(self, name: str, data: bytes, limits: ExtractionLimits = SMALL) -> Reason:
        """Extract a file that must be skipped."""
        found = await self.make_extractor(limits).extract(name, data)
        assert isinstance(found, Skipped), found
        assert found.explanation.endswith(".")
        return found.reason

    async def test_a_heading_holds_for_what_follows_it(self) -> None:
        found = await self.read("leave.md", b"# Leave\n\nIntro.\n\n## Parental\n\n16 weeks.\n")

        assert [(block.text, block.heading) for block in found.blocks] == [
            ("Leave", ("Leave",)),
            ("Intro.", ("Leave",)),
            ("Parental", ("Leave", "Parental")),
            ("16 weeks.", ("Leave", "Parental")),
        ]
        assert found.blocks[-1].locator == "line 7"
        assert found.title == "Leave"

    async def test_a_table_keeps_its_rows(self) -> None:
        found = await self.read("pay.md", b"| Grade | Pay |\n|---|---|\n| B | 40 |\n| C | 50 |\n")

        (table,) = found.blocks
        assert table.kind is BlockKind.TABLE
        assert table.text.splitlines() == ["Grade | Pay", "B | 40", "C | 50"]

    async def test_a_document_without_a_title_is_called_by_its_name(self) -> None:
        assert (await self.read("minutes of may.txt", b"We met.")).title == "minutes of may"

    async def test_the_content_decides_the_type_and_not_the_name(self) -> None:
        found = await self.read("notes.txt", b"<!DOCTYPE html><p>Only <b>this</b>.</p>")

        assert found.media_type == "text/html"
        assert [block.text for block in found.blocks] == ["Only this."]

    @pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
    async def test_text_is_read_in_the_encoding_that_it_has(self, encoding: str) -> None:
        found = await self.read("a.csv", "name;city\nJosé;Köln\n".encode(encoding))

        assert found.blocks[0].text.splitlines() == ["name;city", "José;Köln"]

    async def test_every_text_is_composed_and_shows_nothing_hidden(self) -> None:
        hidden = "".join(chr(0xE0000 + ord(letter)) for letter in "obey")
        text = (
            f"cafe\u0301 \u05e9\u05dc\u05d5\u05dd{hidden} \U0001f469\u200d\U0001f52c pay\u200bload"
        )

        found = await self.read("a.txt", text.encode())

        shown = found.blocks[0].text
        assert shown == "café \u05e9\u05dc\u05d5\u05dd \U0001f469\u200d\U0001f52c payload"
        assert unicodedata.is_normalized("NFC", shown)
        assert found.warnings

    async def test_a_file_inside_a_file_is_handed_back_with_its_name(self) -> None:
        message = EmailMessage()
        message["Subject"] = "The plan"
        message.set_content("See the plan.")
        message.add_attachment(b"a,b\n1,2\n", "text", "csv", filename="plan.csv")

        found = await self.read("mail.eml", message.as_bytes())

        assert [(entry.name, entry.data) for entry in found.attachments] == [
            ("plan.csv", b"a,b\n1,2\n")
        ]
        assert "See the plan." in [block.text for block in found.blocks]

    async def test_more_attachments_than_the_limit_are_named_as_missing(self) -> None:
        message = EmailMessage()
        message.set_content("Three files.")
        for number in range(3):
            message.add_attachment(b"x", "text", "plain", filename=f"{number}.txt")

        found = await self.make_extractor(SMALL).extract("mail.eml", message.as_bytes())

        assert isinstance(found, ExtractedDocument)
        assert len(found.attachments) == 2
        assert found.missing == ("attachment 2.txt",)

    async def test_text_beyond_the_limit_is_cut_and_the_document_marked(self) -> None:
        found = await self.make_extractor(SMALL).extract("long.txt", b"word " * 1_000)

        assert isinstance(found, ExtractedDocument)
        assert sum(len(block.text) for block in found.blocks) == 1_000
        assert found.missing

    @pytest.mark.parametrize("name", ["a.txt", "a.md", "a.csv", "a.html", "a"])
    async def test_a_file_without_text_is_empty_and_not_a_document(self, name: str) -> None:
        assert await self.refuse(name, b" \n\n") is Reason.EMPTY

    @pytest.mark.parametrize("name", ["a.pdf", "a.docx", "a.xlsx", "a.pptx", "a.rtf"])
    @pytest.mark.parametrize("data", [b"", b"nothing of the kind", b"PK\x03\x04 cut off"])
    async def test_a_damaged_file_is_corrupt(self, name: str, data: bytes) -> None:
        assert await self.refuse(name, data) is Reason.CORRUPT

    @pytest.mark.parametrize(
        "data", [bytes(range(256)) * 9, b"\x89PNG\r\n\x1a\n" + bytes(99), b"\x7fELF" + bytes(99)]
    )
    async def test_what_is_no_document_is_unsupported(self, data: bytes) -> None:
        assert await self.refuse("a.txt", data) is Reason.UNSUPPORTED

    async def test_a_file_beyond_the_limit_is_too_large(self) -> None:
        assert await self.refuse("a.txt", b"x" * (SMALL.file_bytes + 1)) is Reason.TOO_LARGE

    async def test_a_bomb_is_refused(self) -> None:
        assert await self.refuse("a.docx", _word_file(bytes(50 * 2**20))) is Reason.BOUNDED

    async def test_entities_are_never_expanded(self) -> None:
        body = (
            b'<!DOCTYPE d [<!ENTITY a "boom">]><w:document ' + _WORD + b"><w:body><w:p><w:r>"
            b"<w:t>&a;</w:t></w:r></w:p></w:body></w:document>"
        )

        assert await self.refuse("a.docx", _word_file(body)) is Reason.CORRUPT

    @pytest.mark.parametrize(
        "name",
        ["na\udcefve.md", "../../etc/passwd", "a\x00b", "\u202egpj.exe", "x" * 5_000, "", "\n"],
    )
    async def test_any_name_will_do(self, name: str) -> None:
        found = await self.read(name, b"Text.")

        assert found.title
        assert len(found.title) <= 255
        found.title.encode("utf-8")
        assert not {"\x00", "/", "\n", "\u202e"} & set(found.title)

    async def test_files_read_at_the_same_time_do_not_mix(self) -> None:
        extractor = self.make_extractor(ExtractionLimits())

        found = await asyncio.gather(
            *(extractor.extract(f"{n}.txt", f"number {n}".encode()) for n in range(12))
        )

        texts = [entry.blocks[0].text for entry in found if isinstance(entry, ExtractedDocument)]
        assert texts == [f"number {n}" for n in range(12)]


def _word_file(body: bytes) -> bytes:
    file = BytesIO()
    with ZipFile(file, "w", ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", _PACKAGE_TYPES)
        archive.writestr("_rels/.rels", _PACKAGE_RELATIONS)
        archive.writestr("d.xml", body)
    return file.getvalue()
