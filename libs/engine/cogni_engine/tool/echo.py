"""The screen's echo of a result, and the one place that bounds what the model reads of one."""

import json
from collections.abc import Mapping

from cogni_kernel import ModelFacingText

from cogni_engine.tool.definition import Echo, EchoForm

ELLIPSIS = "…"
MAX_CONTENT_BYTES = 256 * 1024
MAX_MODEL_CHARACTERS = 100_000


def ui_preview(result: object, limit: int = 4000, *, name: object = None) -> object:
    """Return what the screen shows of a tool's result.

    `read_file` keeps its structure, untouched; any other mapping collapses to its content, else to JSON;
    text is at most `limit` code points, the last one … where something was cut.

    Source:
        COGNI.BUILD spec/result-echo.md.

    >>> ui_preview({"content": "", "path": "a"})
    ''
    >>> ui_preview("abcdef", 4)
    'abc…'
    """
    if str(name) == "read_file" and isinstance(result, Mapping):
        return result
    if isinstance(result, Mapping) and result.get("content") is not None:
        return _cut(_text(result["content"]), limit)
    return _cut(_text(result), limit)


def echo_of(result: object, echo: Echo, name: str) -> object:
    """Return the `result` of a `tool_completed` delta, as the tool's definition says."""
    if echo.form is EchoForm.NONE:
        return None
    if echo.form is EchoForm.STRUCTURED and isinstance(result, Mapping):
        return _bounded(ui_preview(result, name="read_file"))
    preview = ui_preview(result, echo.limit, name=name)
    return _bounded(preview) if isinstance(preview, Mapping) else preview


def bound_for_model(text: ModelFacingText) -> ModelFacingText:
    """Return what the model reads of a result: all of it, up to a limit, and a note where it was cut."""
    whole = str(text)
    if len(whole) <= MAX_MODEL_CHARACTERS:
        return text
    note = (
        f"\n[Cut after {MAX_MODEL_CHARACTERS} of {len(whole)} characters. Ask for a narrower part.]"
    )
    return ModelFacingText(whole[:MAX_MODEL_CHARACTERS] + note)


def _text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if not isinstance(value, str):
        value = json.dumps(value, ensure_ascii=False, default=str)
    return value.encode("utf-8", "replace").decode("utf-8")


def _cut(text: str, limit: int) -> str:
    if limit < 1:
        raise ValueError("an echo's limit is at least 1")
    return text if len(text) <= limit else text[: limit - 1] + ELLIPSIS


def _bounded(result: object) -> object:
    if not isinstance(result, Mapping) or not isinstance(result.get("content"), str):
        return result
    encoded = result["content"].encode("utf-8", "replace")
    if len(encoded) <= MAX_CONTENT_BYTES:
        return result
    kept = encoded[:MAX_CONTENT_BYTES].decode("utf-8", "ignore")
    return {**result, "content": kept, "content_cut_after_bytes": len(kept.encode())}
