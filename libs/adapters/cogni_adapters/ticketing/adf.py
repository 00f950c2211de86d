"""Jira's document format as blocks."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from cogni_domain.knowledge.extracted import Block, BlockKind

DEEPEST = 40
HEADING_LEVELS = 6

_INLINE_TEXT = {"mention": "text", "emoji": "text", "inlineCard": "url", "status": "text"}
_WHOLE = {
    "paragraph": BlockKind.PARAGRAPH,
    "codeBlock": BlockKind.CODE,
    "bulletList": BlockKind.LIST,
    "orderedList": BlockKind.LIST,
    "taskList": BlockKind.LIST,
    "table": BlockKind.TABLE,
}


def blocks_of(body: object, above: tuple[str, ...] = ()) -> tuple[Block, ...]:
    """Return a body's blocks under these headings; nodes of unknown kinds give what is in them.

    A body that is plain text, as older versions of the interface give it, is one paragraph.
    """
    if isinstance(body, str):
        return (Block(BlockKind.PARAGRAPH, body.strip(), above),) if body.strip() else ()
    found: list[Block] = []
    under: dict[int, str] = {}
    for node in _blocks(body, 0):
        kind = _WHOLE.get(_kind(node), BlockKind.PARAGRAPH)
        shown = _shown(node, kind)
        if _kind(node) == "heading":
            kind, level = BlockKind.HEADING, _level(node)
            under = {at: name for at, name in under.items() if at < level} | {level: shown}
        if shown.strip():
            headings = tuple(under[at] for at in sorted(under) if under[at].strip())
            found.append(Block(kind, shown, (*above, *headings)))
    return tuple(found)


def _blocks(node: object, depth: int) -> Iterator[Mapping[str, Any]]:
    """Yield the nodes that are blocks of their own, in reading order."""
    if not isinstance(node, Mapping) or depth > DEEPEST:
        return
    if _kind(node) in _WHOLE or _kind(node) == "heading":
        yield node
        return
    title = _attributes(node).get("title")
    if isinstance(title, str):
        yield {"type": "paragraph", "content": [{"type": "text", "text": title}]}
    for child in _content(node):
        yield from _blocks(child, depth + 1)


def _shown(node: Mapping[str, Any], kind: BlockKind) -> str:
    if kind is BlockKind.TABLE:
        rows = [[_text(cell, 0).strip() for cell in _content(row)] for row in _content(node)]
        return "\n".join(" | ".join(" ".join(cell.split()) for cell in row) for row in rows)
    if kind is BlockKind.LIST:
        return "\n".join(_entries(node, 0))
    return _text(node, 0).strip("\n" if kind is BlockKind.CODE else None)


def _entries(node: Mapping[str, Any], depth: int) -> Iterator[str]:
    """Yield a list's lines, those of lists within it indented."""
    if depth > DEEPEST:
        return
    for item in _content(node):
        parts = [item] if _kind(item) == "taskItem" else _content(item)
        nested = [part for part in parts if _WHOLE.get(_kind(part)) is BlockKind.LIST]
        own = " ".join(_text(part, 1).strip() for part in parts if part not in nested)
        if own.strip():
            yield f"{'  ' * depth}- {own.strip()}"
        for each in nested:
            yield from _entries(each, depth + 1)


def _text(node: object, depth: int) -> str:
    if not isinstance(node, Mapping) or depth > DEEPEST:
        return ""
    kind = _kind(node)
    if kind == "text":
        return str(node.get("text", ""))
    if kind == "hardBreak":
        return "\n"
    if kind in _INLINE_TEXT:
        return str(_attributes(node).get(_INLINE_TEXT[kind], ""))
    inside = [_text(child, depth + 1) for child in _content(node)]
    return ("\n" if depth == 0 and kind not in (*_WHOLE, "heading") else "").join(inside)


def _kind(node: object) -> str:
    return str(node.get("type")) if isinstance(node, Mapping) else ""


def _attributes(node: Mapping[str, Any]) -> Mapping[str, Any]:
    found = node.get("attrs")
    return found if isinstance(found, Mapping) else {}


def _content(node: object) -> Sequence[Any]:
    found = node.get("content") if isinstance(node, Mapping) else None
    return found if isinstance(found, list) else ()


def _level(node: Mapping[str, Any]) -> int:
    level = _attributes(node).get("level")
    return level if isinstance(level, int) and 1 <= level <= HEADING_LEVELS else 1
