"""The parts of an answer as sanitised HTML: its text, its sources, its freshness and its label."""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from html import escape

import nh3
from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.token import Token

from cogni_kernel import encodable
from cogni_surfaces.texts import (
    FRESHNESS_UNKNOWN,
    GENERATED_LABEL,
    NO_SOURCES,
    READ_UP_TO,
    Language,
    said,
    said_place,
)

_TAG_NAMES = (
    "p br hr em strong s code pre blockquote ul ol li h1 h2 h3 h4 h5 h6 table thead tbody tr th td"
)
TAGS = frozenset(_TAG_NAMES.split())
"""All that an answer's own text can become, each without attributes."""

_HANDLE = re.compile(r"\[(s[1-9][0-9]{0,8})\]", re.ASCII)
_MARKER = re.compile(r"\[\[([A-Z]{1,16}):([a-z][1-9][0-9]{0,8})\]\]", re.ASCII)
_BRACKETED = re.compile(r"[\[［]{1,2}[^\[\]［］]{2,40}[\]］]{1,2}")
_TAG = re.compile("(<[^>]*>)")
_VERBATIM = ("code", "pre")


def body(outcome: Mapping[str, object]) -> str:
    """Return the HTML of an outcome's text.

    Of Markdown, what could fetch, run or style something is shown as text, a link with its address. A handle
    becomes a source mark only where the outcome cites it, numbered from 1 within the answer, a marker a place for its widget only where the outcome
    has it; any other goes, and so does what only looks like one. In code both stay as they are written.

    Args:
        outcome: As the contract names it: `text`, `citations`, `markers`.
    """
    cited = _numbered(_mappings(outcome.get("citations")))
    widgets = {str(marker["marker"]) for marker in _mappings(outcome.get("markers"))}
    marked = (
        piece if verbatim else _marked(piece, cited, widgets)
        for piece, verbatim in _pieces(markdown(str(outcome.get("text") or "")))
    )
    return f'<div class="answer" dir="auto">{"".join(marked)}</div>'


def markdown(text: str) -> str:
    """Return Markdown as HTML of `TAGS` alone, each without attributes."""
    return nh3.clean(_markdown.render(encodable(text)), tags=set(TAGS), attributes={})


def generated_label(language: Language) -> str:
    """Return the HTML of the label."""
    return f'<p class="generated">{escape(said(GENERATED_LABEL, language))}</p>'


def _pieces(html: str) -> Iterator[tuple[str, bool]]:
    """Yield tags and the text between them, and whether it stays as it is. No tag has an attribute."""
    depth = 0
    for piece in _TAG.split(html):
        is_tag = piece.startswith("<")
        if is_tag and piece.strip("</>") in _VERBATIM:
            depth += -1 if piece.startswith("</") else 1
        yield piece, is_tag or depth > 0


def _numbered(citations: Sequence[Mapping[str, object]]) -> dict[str, int]:
    """Return each handle with its number: handles count through a conversation, the sources of an answer from 1."""
    handles = dict.fromkeys(str(citation["handle"]) for citation in citations)
    return {handle: number for number, handle in enumerate(handles, 1)}


def _marked(text: str, cited: Mapping[str, int], widgets: set[str]) -> str:
    text = _BRACKETED.sub(lambda m: "" if _looks_issued(m[0]) else m[0], text)
    text = _MARKER.sub(lambda m: _widget(m) if m[0] in widgets else "", text)
    return _HANDLE.sub(lambda m: _source_mark(m[1], cited[m[1]]) if m[1] in cited else "", text)


def _looks_issued(bracketed: str) -> bool:
    """Tell whether it is a handle or marker to the eye alone, as with full-width signs: nothing ever issues such."""
    folded = "".join(
        str(unicodedata.decimal(c, c)) for c in unicodedata.normalize("NFKC", bracketed)
    )
    return folded != bracketed and bool(_HANDLE.fullmatch(folded) or _MARKER.fullmatch(folded))


def _widget(marker: re.Match[str]) -> str:
    return f'<span class="widget" data-kind="{marker[1]}" data-ref="{marker[2]}"></span>'


def _source_mark(handle: str, number: int) -> str:
    return f'<sup class="source" data-handle="{handle}">{number}</sup>'


def sources(citations: Sequence[Mapping[str, object]], language: Language) -> str:
    """Return the HTML of what an answer rests on."""
    if not citations:
        return f'<p class="sources">{said(NO_SOURCES, language)}</p>'
    numbers = _numbered(citations)
    lines = (_source(each, numbers[str(each["handle"])], language) for each in citations)
    return f'<ul class="sources">{"".join(lines)}</ul>'


def _source(citation: Mapping[str, object], number: int, language: Language) -> str:
    """Return one line; `bdi` keeps a right-to-left title from turning the rest around."""
    handle = str(citation["handle"])
    at = said_place(str(citation.get("locator") or ""), language)
    names = (str(citation.get("label") or ""), at)
    place = ", ".join(f"<bdi>{escape(encodable(name))}</bdi>" for name in names if name)
    return f'<li data-handle="{escape(handle)}">{number}: {place}</li>'


def freshness(indexed_through: object, language: Language) -> str:
    """Return the HTML of up to when the sources were read."""
    if not indexed_through:
        return f'<p class="freshness">{said(FRESHNESS_UNKNOWN, language)}</p>'
    moment = datetime.fromisoformat(str(indexed_through))
    time = f'<time datetime="{moment.isoformat()}">{moment:%Y-%m-%d %H:%M} UTC</time>'
    return f'<p class="freshness">{said(READ_UP_TO, language)} {time}.</p>'


def _mappings(value: object) -> Sequence[Mapping[str, object]]:
    return value if isinstance(value, list) else []


def _show_addresses(state: StateCore) -> None:
    """Make each link text with its address behind it, so that nobody follows what is not seen."""
    for block in state.tokens:
        if block.children:
            block.children = list(_without_links(block.children))


def _without_links(tokens: Sequence[Token]) -> Iterator[Token]:
    address, label = "", ""
    for token in tokens:
        if token.type == "link_open":
            address, label = str(token.attrGet("href")), ""
        elif token.type == "link_close":
            shown = "" if label == address else f" ({address})"
            yield Token("text", "", 0, content=shown)
        else:
            label += token.content
            yield token


_markdown = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
_markdown.disable(["image", "reference", "autolink"])
_markdown.core.ruler.push("show_addresses", _show_addresses)
