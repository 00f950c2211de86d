"""The screen's echo of a result, and the one place that bounds what the model reads of one."""

import json
from collections.abc import Mapping
from contextlib import suppress

from cogni_engine.channel.marker import Marker
from cogni_engine.tool.definition import Echo, EchoForm
from cogni_kernel import ModelFacingText, encodable

ELLIPSIS = "…"
MAX_CONTENT_BYTES = 256 * 1024
MAX_MODEL_CHARACTERS = 100_000


def ui_preview(result: object, limit: int = 4000, *, name: object = None) -> object:
    """Return what the screen shows of a tool's result.

    `read_file` keeps its structure, untouched; any other mapping collapses to its content, else to JSON;
    text is at most `limit` code points, the last one … where something was cut. An empty content is a
    value; None and False are none.

    Raises:
        ValueError: `limit` is below 1.

    Source:
        COGNI.BUILD spec/result-echo.md.

    >>> ui_preview({"content": "", "path": "a"})
    ''
    >>> ui_preview("abcdef", 4)
    'abc…'
    """
    if str(name) == "read_file" and isinstance(result, Mapping):
        return result
    if isinstance(result, Mapping):
        content = result.get("content")
        if content is not None and content is not False:
            return _cut(_text(content), limit)
    return _cut(_text(result), limit)


def echo_of(result: object, echo: Echo, name: str) -> object:
    """Return the `result` of a `tool_completed` delta, as the tool's definition says: plain JSON, always."""
    if echo.form is EchoForm.NONE:
        return None
    shown = "read_file" if echo.form is EchoForm.STRUCTURED else name
    preview = ui_preview(result, echo.limit, name=shown)
    if not isinstance(preview, Mapping):
        return preview
    try:
        plain = json.dumps(_bounded(preview), ensure_ascii=False, allow_nan=False, default=_unknown)
        return json.loads(encodable(plain))
    except (TypeError, ValueError, RecursionError):
        return ui_preview(result, echo.limit)


def bound_for_model(text: ModelFacingText, kept: Marker | None = None) -> ModelFacingText:
    """Return what the model reads of a result: all of it, up to a limit, and a note where it was cut.

    Args:
        kept: Where the whole of it is, if it is too long and was kept.
    """
    whole = str(text)
    if len(whole) <= MAX_MODEL_CHARACTERS:
        return ModelFacingText(encodable(whole))
    where = f" The whole is kept as {kept.ref}." if kept else ""
    note = (
        f"\n[Cut after {MAX_MODEL_CHARACTERS} of {len(whole)} characters.{where} "
        "Ask for a narrower part.]"
    )
    return ModelFacingText(encodable(whole[:MAX_MODEL_CHARACTERS]) + note)


def _text(value: object) -> str:
    """Return `value` as text, whatever it is: an echo is cosmetic and never breaks a run."""
    if value is None:
        return ""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    for spell in (_spelled, str):
        with suppress(Exception):
            return encodable(spell(value))
    return f"({type(value).__name__})"


def _spelled(value: object) -> str:
    if isinstance(value, bool | Mapping | list | tuple):
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=_unknown)
    return str(value)


def _unknown(value: object) -> object:
    return dict(value) if isinstance(value, Mapping) else str(value)


def _cut(text: str, limit: int) -> str:
    if limit < 1:
        raise ValueError("an echo's limit is at least 1")
    return text if len(text) <= limit else text[: limit - 1] + ELLIPSIS


def _bounded(result: Mapping[object, object]) -> dict[object, object]:
    """Bound the content alone, at a whole code point, and say so."""
    content = result.get("content")
    if not isinstance(content, str) or len(content) * 4 <= MAX_CONTENT_BYTES:
        return dict(result)
    encoded = encodable(content).encode()
    if len(encoded) <= MAX_CONTENT_BYTES:
        return dict(result)
    kept = encoded[:MAX_CONTENT_BYTES].decode("utf-8", "ignore")
    return {**result, "content": kept, "content_cut_after_bytes": len(kept.encode())}
