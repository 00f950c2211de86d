"""The company's Markdown as HTML: headings, paragraphs, lists, tables and code, nothing else."""

import re
from collections.abc import Iterator

from cogni_acme.host_site.markup import Html, fill, joined

_BREAK = re.compile(r"\n(?:[ \t]*\n)+")
_HEADING = re.compile(r"(#{1,6})[ \t]+(.+)")
_BULLET = re.compile(r"[-*][ \t]+(.+)")
_NUMBER = re.compile(r"\d{1,3}\.[ \t]+(.+)")
_RULE = re.compile(r"\|?[ \t]*:?-{3,}[-:| \t]*")
_CODE = re.compile(r"`([^`\n]+)`")


def to_html(text: str) -> Html:
    """Return the text without its title, which the page shows itself."""
    body = text.strip()
    if body.startswith("# "):
        body = body.partition("\n")[2].strip()
    return joined(part for block in _BREAK.split(body) for part in _block(block.split("\n")))


def _block(lines: list[str]) -> Iterator[Html]:
    heading = _HEADING.fullmatch(lines[0].strip())
    if heading:
        level = max(2, len(heading[1]))
        yield fill("<h{level}>{text}</h{level}>", level=level, text=_inline(heading[2]))
        lines = lines[1:]
    rows = [line.strip() for line in lines if line.strip()]
    if not rows:
        return
    if bullets := _all(_BULLET, rows):
        yield fill("<ul>{items}</ul>", items=_items(bullets))
    elif numbers := _all(_NUMBER, rows):
        yield fill("<ol>{items}</ol>", items=_items(numbers))
    elif len(rows) > 1 and rows[0].startswith("|") and _RULE.fullmatch(rows[1]):
        yield _table(rows)
    else:
        yield fill("<p>{text}</p>", text=_inline(" ".join(rows)))


def _all(pattern: re.Pattern[str], rows: list[str]) -> list[str]:
    """Return what each row holds, or nothing where one is something else."""
    found = [pattern.fullmatch(row) for row in rows]
    return [match[1] for match in found if match] if all(found) else []


def _items(texts: list[str]) -> Html:
    return joined(fill("<li>{text}</li>", text=_inline(text)) for text in texts)


def _table(rows: list[str]) -> Html:
    head, _, *body = ([cell.strip() for cell in row.strip("|").split("|")] for row in rows)
    # a table wider than a phone scrolls by itself, also by keyboard
    return fill(
        '<div class="wide" tabindex="0" role="region" aria-label="Table">'
        "<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>",
        head=joined(fill('<th scope="col">{cell}</th>', cell=_inline(cell)) for cell in head),
        body=joined(fill("<tr>{cells}</tr>", cells=_cells(row)) for row in body),
    )


def _cells(row: list[str]) -> Html:
    return joined(fill("<td>{cell}</td>", cell=_inline(cell)) for cell in row)


def _inline(text: str) -> Html:
    parts = _CODE.split(text)  # every second one is code
    return joined(
        fill("<code>{part}</code>" if n % 2 else "{part}", part=part)
        for n, part in enumerate(parts)
    )
