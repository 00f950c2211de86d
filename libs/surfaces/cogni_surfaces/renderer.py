"""An answer as a person sees it: sanitised HTML with its sources, its freshness and its label."""

import re
from collections.abc import Mapping, Sequence
from html import escape

import nh3
from markdown_it import MarkdownIt

GENERATED_LABEL = "Generated answer. Check it against its sources."

_TAGS = frozenset(
    ["p", "br", "hr", "em", "strong", "s", "code", "pre", "blockquote", "ul", "ol", "li", "h1", "h2", "h3", "h4", "h5", "h6", "table", "thead", "tbody", "tr", "th", "td", "a"]
)
_HANDLE = re.compile(r"\[(s[1-9][0-9]{0,8})\]", re.ASCII)
_MARKER = re.compile(r"\[\[([A-Z]{1,16}):([a-z][1-9][0-9]{0,8})\]\]", re.ASCII)

_markdown = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
_markdown.disable(["image", "reference", "autolink"])


def render_answer(
    text: str, citations: Sequence[Mapping[str, object]], markers: Sequence[Mapping[str, object]]
) -> str:
    """Return the body of an answer.

    No remote image, no script, no style: what Markdown cannot say is shown as text. A handle becomes a source
    mark only where it is one of `citations`, a marker a place for its widget only where it is one of `markers`.

    Args:
        text: Verified Markdown, as released by the grounding guard.
        citations: Of the outcome, each with `handle` and `label`.
        markers: Of the outcome, each with `marker` and `kind`.
    """
    html = nh3.clean(
        _markdown.render(text),
        tags=set(_TAGS),
        attributes={"a": {"href"}},
        url_schemes={"http", "https"},
        link_rel="noopener noreferrer nofollow",
    )
    labels = {str(c["handle"]): str(c["label"]) for c in citations}
    widgets = {str(m["marker"]) for m in markers}
    html = _MARKER.sub(lambda m: _widget(m, widgets), html)
    return _HANDLE.sub(lambda m: _source(m, labels), html)


def _source(match: re.Match[str], labels: Mapping[str, str]) -> str:
    handle = match[1]
    if handle not in labels:
        return ""
    title = escape(labels[handle], quote=True)
    return f'<sup class="source" data-handle="{handle}" title="{title}">{handle[1:]}</sup>'


def _widget(match: re.Match[str], widgets: set[str]) -> str:
    if match[0] not in widgets:
        return ""
    return f'<span class="widget" data-kind="{match[1]}" data-ref="{match[2]}"></span>'


def disclosed(outcome: Mapping[str, object]) -> dict[str, object]:
    """Return an outcome with what every surface owes the person: the rendered answer and the label."""
    citations, markers = outcome.get("citations"), outcome.get("markers")
    html = render_answer(
        str(outcome.get("text") or ""),
        citations if isinstance(citations, list) else [],
        markers if isinstance(markers, list) else [],
    )
    return {**outcome, "html": html, "generated_label": GENERATED_LABEL}
