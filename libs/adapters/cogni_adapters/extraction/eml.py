"""Mail: headers, every readable part, messages inside it, and what is attached."""

from collections.abc import Iterator
from email import policy
from email.errors import HeaderParseError
from email.header import decode_header
from email.message import Message
from email.parser import BytesParser

from cogni_adapters.extraction.clean import one_line
from cogni_adapters.extraction.decode import decode
from cogni_adapters.extraction.draft import Draft, Source
from cogni_adapters.extraction.html_page import add_html
from cogni_adapters.extraction.plain_text import paragraphs

_SHOWN_HEADERS = ("From", "To", "Cc", "Date", "Subject")
_MAX_DEPTH = 20


def read(source: Source, draft: Draft) -> None:
    """Parts are decoded by `decode`, because the charset that a mail declares is often not the one it uses."""
    message = BytesParser(policy=policy.compat32).parsebytes(source.data)
    draft.title = _header(message, "Subject")
    _Reader(draft).message(message, 0)


class _Reader:
    def __init__(self, draft: Draft) -> None:
        self._draft = draft

    def message(self, message: "Message[str, str]", depth: int) -> None:
        """Headers under the subject as a heading, then the body; a message inside is a section inside."""
        if depth > _MAX_DEPTH:
            self._draft.lacks("messages inside more than twenty others")
            return
        self._draft.heading(depth + 1, _header(message, "Subject"))
        shown = [f"{name}: {value}" for name in _SHOWN_HEADERS if (value := _header(message, name))]
        self._draft.paragraph("\n".join(shown))
        self._part(message, depth)

    def _part(self, part: "Message[str, str]", depth: int) -> None:
        if depth > _MAX_DEPTH:
            self._draft.lacks("parts inside more than twenty others")
            return
        kind = part.get_content_type()
        if kind == "message/rfc822" and part.is_multipart():
            for message in _children(part):
                self.message(message, depth + 1)
        elif kind == "multipart/alternative":
            self._part(_preferred(list(_children(part))) or part, depth + 1)
        elif part.is_multipart():
            for child in _children(part):
                self._part(child, depth + 1)
        elif _is_attached(part):
            self._draft.attach(_file_name(part), _payload(part))
        else:
            self._body(kind, part)

    def _body(self, kind: str, part: "Message[str, str]") -> None:
        decoded = decode(_payload(part), part.get_content_charset())
        if decoded.warning:
            self._draft.warn(decoded.warning)
        if kind == "text/html":
            add_html(decoded.text, self._draft, "")
        else:
            for _, _, text in paragraphs(decoded.text):
                self._draft.paragraph(text)


def _children(part: "Message[str, str]") -> Iterator["Message[str, str]"]:
    payload = part.get_payload()
    if isinstance(payload, list):
        yield from (child for child in payload if isinstance(child, Message))


def _preferred(parts: "list[Message[str, str]]") -> "Message[str, str] | None":
    """Of alternatives, the plain one if it says anything, else the last, which is the richest."""
    for part in parts:
        if part.get_content_type() == "text/plain" and _payload(part).strip():
            return part
    return parts[-1] if parts else None


def _is_attached(part: "Message[str, str]") -> bool:
    is_text = part.get_content_maintype() == "text"
    return (
        part.get_content_disposition() == "attachment" or bool(part.get_filename()) or not is_text
    )


def _file_name(part: "Message[str, str]") -> str:
    return _decode_words(part.get_filename() or "")


def _payload(part: "Message[str, str]") -> bytes:
    payload = part.get_payload(decode=True)
    return payload if isinstance(payload, bytes) else b""


def _header(message: "Message[str, str]", name: str) -> str:
    value = message.get(name)
    return one_line(_decode_words(str(value))) if value is not None else ""


def _decode_words(value: str) -> str:
    """RFC 2047 words as text, whatever charset each of them claims."""
    parts: list[tuple[bytes | str, str | None]]
    try:
        parts = decode_header(value)
    except (ValueError, HeaderParseError):
        return value
    return "".join(
        part if isinstance(part, str) else decode(part, charset).text for part, charset in parts
    )
