"""What a file is: its content says so, and its name only where the content could be several things."""

import re
from collections.abc import Mapping
from pathlib import PurePath
from typing import Final

from cogni_adapters.extraction import archive
from cogni_adapters.extraction.decode import decode, wide_encoding
from cogni_adapters.extraction.draft import Source
from cogni_adapters.extraction.ooxml import Package, main_content_type
from cogni_adapters.extraction.refusal import NotExtractedError
from cogni_domain.knowledge.extracted import Reason

MARKDOWN: Final = "text/markdown"
HTML: Final = "text/html"
PLAIN: Final = "text/plain"
CSV: Final = "text/csv"
PDF: Final = "application/pdf"
RTF: Final = "application/rtf"
EML: Final = "message/rfc822"
DOCX: Final = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
PPTX: Final = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
ODT: Final = "application/vnd.oasis.opendocument.text"
ODS: Final = "application/vnd.oasis.opendocument.spreadsheet"
ODP: Final = "application/vnd.oasis.opendocument.presentation"
ZIP: Final = "application/zip"
TAR: Final = "application/x-tar"
GZIP: Final = "application/gzip"
XLSX: Final = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"

_TEXT_ENDINGS: Mapping[str, str] = {
    ".md": MARKDOWN,
    ".markdown": MARKDOWN,
    ".mdx": MARKDOWN,
    ".html": HTML,
    ".htm": HTML,
    ".xhtml": HTML,
    ".csv": CSV,
    ".tsv": CSV,
    ".eml": EML,
    ".txt": PLAIN,
    ".text": PLAIN,
    ".log": PLAIN,
}
_BINARY_ENDINGS: Mapping[str, str] = {
    ".pdf": PDF,
    ".rtf": RTF,
    ".docx": DOCX,
    ".docm": DOCX,
    ".pptx": PPTX,
    ".pptm": PPTX,
    ".xlsx": XLSX,
    ".xlsm": XLSX,
    ".odt": ODT,
    ".ott": ODT,
    ".ods": ODS,
    ".ots": ODS,
    ".odp": ODP,
    ".otp": ODP,
    ".zip": ZIP,
    ".tar": TAR,
    ".gz": GZIP,
    ".tgz": GZIP,
}
_ARCHIVES = frozenset((ZIP, TAR, GZIP))
_HEAD_BYTES = 8192
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_WHOLE_PAGE = re.compile(
    r"\s*(?:<\?xml[^>]*\?>\s*|<!--.*?-->\s*)*<(?:!doctype\s+html|html|head|body)\b", re.I | re.S
)
_FRAGMENT = re.compile(
    r"\s*<(?:p|div|h[1-6]|table|ul|ol|section|article|span|ac:[a-z-]+)[\s>]", re.I
)
_HEADER = re.compile(r"[!-9;-~]+:(?:[ \t].*)?(?:\r?\n[ \t].*)*\r?\n")
_MAIL_HEADERS = frozenset(
    (
        "from",
        "received",
        "return-path",
        "delivered-to",
        "message-id",
        "mime-version",
        "date",
        "to",
        "subject",
    )
)


def sniff(source: Source) -> str:
    """Return the media type of a reader that fits.

    Errors:
        NotExtractedError: EMPTY, CORRUPT (an empty or damaged file of a known kind) or UNSUPPORTED.
    """
    data, ending = source.data, PurePath(source.name).suffix.lower()
    promised = _BINARY_ENDINGS.get(ending)
    if not data.strip(b"\x00 \t\r\n"):
        reason = Reason.CORRUPT if promised else Reason.EMPTY
        raise NotExtractedError(reason, "The file is empty: check the original and copy it again.")
    if b"%PDF-" in data[:1024]:
        return PDF
    if data.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _zip(source, promised)
    if data.startswith(archive.GZIP):
        return GZIP
    if archive.is_tar(data):
        return TAR
    if data.startswith(_OLE):
        raise _ole_refusal(data)
    if data.lstrip()[:6].startswith(b"{\\rtf"):
        return RTF
    if promised:
        raise NotExtractedError(
            Reason.CORRUPT,
            f"The name ends in {ending}, but the content is something else: save it again.",
        )
    return _text(data, ending)


def sniff_words(source: Source) -> str | None:
    """Return the media type of a file of plain words, found without opening anything; None for any other."""
    if source.data.startswith((b"PK", archive.GZIP, _OLE)) or archive.is_tar(source.data):
        return None
    try:
        found = sniff(source)
    except NotExtractedError:
        return None
    return found if found in (MARKDOWN, PLAIN, CSV) else None


def _text(data: bytes, ending: str) -> str:
    head = data[:_HEAD_BYTES]
    if _is_binary(head):
        raise NotExtractedError(
            Reason.UNSUPPORTED,
            "No reader for this kind of file: provide it as PDF, Office or text.",
        )
    text = decode(head[: len(head) // 4 * 4]).text
    named = _TEXT_ENDINGS.get(ending)
    if _WHOLE_PAGE.match(text):
        return HTML
    if named in (None, PLAIN):
        if _is_mail(text):
            return EML
        if named is None and _FRAGMENT.match(text):
            return HTML
    return named or PLAIN


def _is_binary(head: bytes) -> bool:
    if head.startswith((b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")) or wide_encoding(head):
        return False
    controls = len(head.translate(None, bytes(range(8, 14)) + b"\x1a\x1b" + bytes(range(32, 256))))
    return b"\x00" in head or controls > len(head) // 50


def _is_mail(text: str) -> bool:
    """Whether it begins with a block of headers that has at least three of a mail's."""
    at, names = 0, set()
    while match := _HEADER.match(text, at):
        names.add(match[0].split(":", 1)[0].lower())
        at = match.end()
    return len(names & _MAIL_HEADERS) >= 3


def _zip(source: Source, promised: str | None) -> str:
    """An Office file, an OpenDocument, or an archive that is called one."""
    members = archive.members_of(source)
    if "mimetype" in members and "content.xml" in members:
        kind = Package(source).read("mimetype").decode("latin-1").strip()
        for media_type in (ODT, ODS, ODP):
            if kind.removesuffix("-template").removesuffix("-master") == media_type:
                return media_type
    if "[Content_Types].xml" not in members and promised in (None, *_ARCHIVES):
        return ZIP
    return _ooxml(source)


def _ooxml(source: Source) -> str:
    main = main_content_type(source)
    for word, media_type in (
        ("wordprocessingml", DOCX),
        ("presentationml", PPTX),
        ("spreadsheetml", XLSX),
    ):
        if word in main or (word[:5] in main and "macroenabled" in main.lower()):
            return media_type
    raise NotExtractedError(
        Reason.UNSUPPORTED, "An archive, not a document: unpack it, or save it as an Office file."
    )


def _ole_refusal(data: bytes) -> NotExtractedError:
    """Old Office files, and new ones that a password protects, share one container."""
    if "EncryptedPackage".encode("utf-16-le") in data:
        return NotExtractedError(
            Reason.ENCRYPTED, "A password protects the file: save it without one."
        )
    return NotExtractedError(
        Reason.UNSUPPORTED, "An Office file of before 2007: save it as .docx, .xlsx or .pptx."
    )
