"""PDF: page by page, so that one bad page costs that page and is named."""

import logging
from io import BytesIO
from types import TracebackType
from typing import Self

from pypdf import PageObject, PdfReader
from pypdf.errors import DependencyError, LimitReachedError
from pypdf.generic import ArrayObject, StreamObject

from cogni_adapters.extraction.clean import one_line
from cogni_adapters.extraction.draft import Draft, Row, Source
from cogni_adapters.extraction.jbig2 import declared_bytes
from cogni_adapters.extraction.pdf_layout import add_page, body_size, heading_levels
from cogni_adapters.extraction.pdf_page import PageText, read_page
from cogni_adapters.extraction.refusal import NotExtractedError
from cogni_domain.knowledge.extracted import Reason

_JBIG2 = "/JBIG2Decode"
_MAX_FIELDS = 10_000


def read(source: Source, draft: Draft) -> None:
    """Read by pypdf, which says what it could not read; faster libraries go on in silence."""
    reader = _open(source.data)
    draft.title = _title(reader)
    pages = _read_pages(reader, source, draft)
    everything = [line for _, page in pages for line in page.lines]
    body = body_size(everything)
    levels = heading_levels(everything, body)
    for number, page in pages:
        add_page(page, levels, body, f"page {number}", draft)
    draft.leave_headings()
    _add_fields(reader, draft)
    _attach_files(reader, draft)


def _open(data: bytes) -> PdfReader:
    """Errors: CORRUPT; ENCRYPTED unless the empty password opens it."""
    try:
        reader = PdfReader(BytesIO(data))
        if reader.is_encrypted and not reader.decrypt(""):
            raise _encrypted()
        len(reader.pages)
    except NotExtractedError:
        raise
    except (NotImplementedError, DependencyError) as error:
        raise _encrypted() from error
    except MemoryError:
        raise
    except Exception as error:
        raise NotExtractedError.corrupt(
            f"The PDF cannot be opened ({type(error).__name__}): print it to a new one."
        ) from error
    return reader


def _encrypted() -> NotExtractedError:
    return NotExtractedError(Reason.ENCRYPTED, "A password protects the PDF: save it without one.")


def _title(reader: PdfReader) -> str:
    try:
        title = reader.metadata.title if reader.metadata else ""
    except Exception:
        return ""
    return str(title or "")


def _read_pages(reader: PdfReader, source: Source, draft: Draft) -> list[tuple[int, PageText]]:
    pages: list[tuple[int, PageText]] = []
    with _Damage() as damage:
        for number in range(1, len(reader.pages) + 1):
            damage.seen = False
            try:
                page = _read_page(reader.pages[number - 1], number, source, draft)
            except MemoryError:
                raise
            except Exception as error:
                draft.lacks(f"page {number}")
                draft.bounded = draft.bounded or isinstance(error, LimitReachedError)
                continue
            pages.append((number, page))
            if damage.seen:
                draft.lacks(f"page {number}")
    return pages


def _read_page(page: PageObject, number: int, source: Source, draft: Draft) -> PageText:
    _refuse_image_bomb(page, source.limits.unpacked_bytes)
    found = read_page(page)
    if found.unreadable:
        draft.lacks(f"page {number}")
        draft.warn("a font does not say which letters it draws: its text was left out")
    if found.off_page:
        draft.warn("text outside the visible page was left out")
    if found.comments:
        draft.warn("comments were left out")
    return found


def _refuse_image_bomb(page: PageObject, most: int) -> None:
    """Raise for page content coded as an image of which the declared size alone breaks the bounds."""
    contents = page.get("/Contents")
    entry = contents.get_object() if contents is not None else None
    streams = [part.get_object() for part in entry] if isinstance(entry, ArrayObject) else [entry]
    for stream in streams:
        if isinstance(stream, StreamObject) and _JBIG2 in _filters(stream):
            declared = declared_bytes(stream._data)  # noqa: SLF001
            if declared > most:
                raise LimitReachedError(f"an image of {declared} bytes")


def _filters(stream: StreamObject) -> list[str]:
    names = stream.get("/Filter")
    return [str(name) for name in names] if isinstance(names, ArrayObject) else [str(names)]


def _add_fields(reader: PdfReader, draft: Draft) -> None:
    """What was filled into a form; an XFA form keeps its real pages where no reader here looks."""
    try:
        fields = reader.get_fields() or {}
        has_xfa = bool(reader.xfa)
    except MemoryError:
        raise
    except Exception:
        draft.lacks("form fields")
        return
    if has_xfa:
        draft.warn("an XFA form: the pages that Adobe Reader builds from it were not read")
    rows = []
    for name, field in list(fields.items())[:_MAX_FIELDS]:
        value = field.get("/V")
        if isinstance(value, str) and value.strip() and not value.startswith("/"):
            label = str(field.get("/TU") or name).rpartition(".")[2] or name
            rows.append(Row(f"{one_line(label)} | {one_line(value)}", None))
    draft.table(rows, lambda _: "form fields")


def _attach_files(reader: PdfReader, draft: Draft) -> None:
    try:
        for entry in reader.attachment_list:
            name = str(entry.alternative_name or entry.name)
            try:
                draft.attach(name, entry.content)
            except (LimitReachedError, ValueError, KeyError):
                draft.lacks(f"attachment {name}")
    except MemoryError:
        raise
    except Exception:
        draft.lacks("attachments")


class _Damage(logging.Handler):
    """Notices that pypdf went on over broken data, which it only logs."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.seen = False

    def emit(self, record: logging.LogRecord) -> None:
        is_decoding = record.name == "pypdf.filters"
        self.seen = (
            self.seen
            or is_decoding
            or "XFormObject" in str(record.msg)
            or "form XObject" in str(record.msg)
        )

    def __enter__(self) -> Self:
        logger = logging.getLogger("pypdf")
        logger.propagate = False
        logger.addHandler(self)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        logging.getLogger("pypdf").removeHandler(self)
