"""Confluence's own format of a page as HTML. The source is read: a rendering would hold what other pages say."""

import html
import re

_CDATA = re.compile(r"<!\[CDATA\[(.*?)\]\]>", re.DOTALL)
_PARAMETER = re.compile(r"<ac:parameter\b[^>]*>.*?</ac:parameter>", re.DOTALL)
_OWN_TAG = re.compile(r"""</?(?:ac|ri|at):(?:[^>"']|"[^"]*"|'[^']*')*>""")
_LINK_BODY = re.compile(r"<ac:plain-text-link-body>\s*\Z")


def to_html(title: str, storage: str) -> bytes:
    """Return an HTML document: code blocks are kept as they are, what macros are set to is left out.

    >>> to_html("T", "<p>a</p><ac:plain-text-body><![CDATA[x > y]]></ac:plain-text-body>").decode()
    '<!DOCTYPE html><meta charset="utf-8"><title>T</title><body><p>a</p><pre>x &gt; y</pre>'
    """
    parts: list[str] = []
    end = 0
    whole = storage.replace("]]]]><![CDATA[>", "]]&gt;")
    for literal in _CDATA.finditer(whole):
        before = whole[end : literal.start()]
        body = html.escape(literal[1].replace("]]&gt;", "]]>"), quote=False)
        is_link = _LINK_BODY.search(before) is not None
        parts += [_without_macros(before), body if is_link else f"<pre>{body}</pre>"]
        end = literal.end()
    parts.append(_without_macros(whole[end:]))
    head = f'<!DOCTYPE html><meta charset="utf-8"><title>{html.escape(title)}</title><body>'
    return (head + "".join(parts)).encode("utf-8", "replace")


def _without_macros(text: str) -> str:
    return _OWN_TAG.sub("", _PARAMETER.sub("", text))
