"""What runs in the limited process: one file in, one document or reason out."""

from collections.abc import Callable, Mapping

from cogni_adapters.extraction import (
    archive,
    csv_table,
    docx,
    eml,
    html_page,
    markdown,
    odf,
    pdf,
    plain_text,
    pptx,
    rtf,
    sniff,
    xlsx,
)
from cogni_adapters.extraction.draft import Draft, Source
from cogni_adapters.extraction.refusal import NotExtractedError, TextLimitReachedError
from cogni_domain.knowledge.extracted import ExtractedDocument, Reason, Skipped

_READERS: Mapping[str, Callable[[Source, Draft], None]] = {
    sniff.MARKDOWN: markdown.read,
    sniff.HTML: html_page.read,
    sniff.PLAIN: plain_text.read,
    sniff.CSV: csv_table.read,
    sniff.PDF: pdf.read,
    sniff.DOCX: docx.read,
    sniff.PPTX: pptx.read,
    sniff.XLSX: xlsx.read,
    sniff.ODT: odf.read_text,
    sniff.ODS: odf.read_sheets,
    sniff.ODP: odf.read_slides,
    sniff.ZIP: archive.read_zip,
    sniff.TAR: archive.read_tar,
    sniff.GZIP: archive.read_gzip,
    sniff.RTF: rtf.read,
    sniff.EML: eml.read,
}


def extract(source: Source) -> ExtractedDocument | Skipped:
    """Read one file. Whatever its content makes a reader raise becomes a `Skipped`."""
    try:
        media_type = sniff.sniff(source)
        draft = Draft(source.limits)
        try:
            _READERS[media_type](source, draft)
            draft.end_list()
        except TextLimitReachedError:
            pass
        return draft.finish(source.name, media_type) or _nothing(draft)
    except NotExtractedError as refusal:
        return Skipped(refusal.reason, refusal.explanation)
    except (MemoryError, RecursionError) as error:
        return Skipped(
            Reason.BOUNDED,
            f"Reading the file needs more than the limits allow ({type(error).__name__}).",
        )
    except Exception as error:
        return Skipped(
            Reason.CORRUPT, f"The file cannot be read ({type(error).__name__}): save it again."
        )


def extract_words(source: Source) -> ExtractedDocument | Skipped | None:
    """Read a file of plain words; None for any other, of which nothing was opened."""
    return None if sniff.sniff_words(source) is None else extract(source)


def _nothing(draft: Draft) -> Skipped:
    if draft.bounded:
        return Skipped(
            Reason.BOUNDED, "The file holds data that would break the limits, and no other text."
        )
    if draft.has_missing:
        return Skipped(Reason.CORRUPT, "No part of the file could be read: save it again.")
    return Skipped(
        Reason.EMPTY, "The file holds no text: if it is a scan, have its letters recognised first."
    )
