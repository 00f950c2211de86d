"""Real odd files, each with the text that must come out or the outcome that must be reported."""

import json
import os
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cogni_adapters.extraction import SandboxExtractorAdapter
from cogni_domain.knowledge.extracted import ExtractedDocument, Skipped

FILES = Path(os.environ.get("COGNI_SHARED", Path(__file__).parents[5] / "shared")) / "data/files"
MANIFEST = FILES / "manifest.jsonl"
ROWS: list[dict[str, Any]] = (
    [json.loads(line) for line in MANIFEST.read_text("utf-8").splitlines()]
    if MANIFEST.exists()
    else []
)
NOT_COMPARED = dict.fromkeys(
    [*range(0x200E, 0x2010), *range(0x202A, 0x202F), *range(0x2066, 0x206A), 0xAD, 0xFEFF]
)

pytestmark = pytest.mark.skipif(not ROWS, reason="needs the files of COGNI_SHARED")


@pytest.fixture(scope="module")
def sandbox() -> Iterator[SandboxExtractorAdapter]:
    adapter = SandboxExtractorAdapter(workers=1)
    yield adapter
    adapter.close()


def comparable(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).translate(NOT_COMPARED).split())


def outcome(found: ExtractedDocument | Skipped) -> str:
    if isinstance(found, Skipped):
        return {"EMPTY": "NO_TEXT"}.get(found.reason.name, found.reason.name)
    if found.missing:
        return "PARTIAL"
    return "ATTACHMENT" if found.attachments else "TEXT"


@pytest.mark.parametrize("row", ROWS, ids=[row["file"] for row in ROWS])
async def test_a_real_odd_file_ends_as_its_manifest_says(
    row: dict[str, Any], sandbox: SandboxExtractorAdapter
) -> None:
    name = row["file"].rpartition("/")[2]

    found = await sandbox.extract(name, (FILES / row["file"]).read_bytes())

    assert outcome(found) == row["outcome"]
    if isinstance(found, ExtractedDocument):
        text = comparable("\n".join(block.text for block in found.blocks))
        assert [part for part in row["must_contain"] if comparable(part) not in text] == []
        assert [part for part in row["must_not_contain"] if comparable(part) in text] == []


async def test_a_partial_document_names_its_unreadable_pages(
    sandbox: SandboxExtractorAdapter,
) -> None:
    data = (FILES / "dev/testPDF_bad_page_303226.pdf").read_bytes()

    found = await sandbox.extract("law.pdf", data)

    assert isinstance(found, ExtractedDocument)
    assert found.missing == ("page 2", "page 12", "page 13")


async def test_an_xfa_form_is_read_with_a_warning(sandbox: SandboxExtractorAdapter) -> None:
    found = await sandbox.extract("f.pdf", (FILES / "dev/xfa_issue14315.pdf").read_bytes())

    assert isinstance(found, ExtractedDocument)
    assert any("XFA" in warning for warning in found.warnings)


async def test_dropped_comments_are_said(sandbox: SandboxExtractorAdapter) -> None:
    found = await sandbox.extract("c.docx", (FILES / "dev/testComment.docx").read_bytes())

    assert isinstance(found, ExtractedDocument)
    assert found.warnings == ("comments were left out",)


async def test_a_table_that_a_pdf_draws_out_of_order_keeps_its_rows(
    sandbox: SandboxExtractorAdapter,
) -> None:
    name = "WARN-Report-for-7-1-2015-to-03-25-2016.pdf"

    found = await sandbox.extract(name, (FILES / "dev" / name).read_bytes())

    assert isinstance(found, ExtractedDocument)
    lines = [line for block in found.blocks for line in block.text.splitlines()]
    row = next(line for line in lines if "Rockwell Collins, Inc. | Poway" in line)
    assert row == (
        "10/12/2015 | 12/11/2015 | 10/14/2015 | Rockwell Collins, Inc. | Poway | 29 | Layoff Permanent"
    )
