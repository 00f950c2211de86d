"""HTML out of templates: whatever is not markup already is escaped on its way in."""

import html
import json
from collections.abc import Iterable


class Html(str):
    """Text that is markup already."""

    __slots__ = ()


def fill(template: str, **values: object) -> Html:
    """Put values into the `{names}` of a template.

    >>> fill("<b>{name}</b>", name="a < b")
    '<b>a &lt; b</b>'
    """
    return Html(template.format_map({name: _safe(value) for name, value in values.items()}))


def joined(parts: Iterable[Html]) -> Html:
    """Return markup, one part after the other."""
    return Html("".join(parts))


def script_value(value: object) -> Html:
    """Return a value as JSON that cannot end the script it stands in.

    >>> script_value("</script>")
    '"\\\\u003c/script\\\\u003e"'
    """
    written = json.dumps(value)
    for sign in "<>&":
        written = written.replace(sign, f"\\u{ord(sign):04x}")
    return Html(written)


def _safe(value: object) -> str:
    return value if isinstance(value, Html) else html.escape(str(value))
