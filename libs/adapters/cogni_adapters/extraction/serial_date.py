"""Serial day numbers of a sheet as dates and times."""

from collections.abc import Sequence
from datetime import datetime, timedelta

_LAST_SERIAL = 2_958_466
_SECONDS = {"h": 3600, "m": 60, "s": 1}

Tokens = Sequence[tuple[str, str]]


def format_date(value: float, tokens: Tokens, *, from_1904: bool) -> str | None:
    """Return `value` days after the calendar's start by the tokens of its format code.

    Names of months and days are English, as the codes are. Nothing for a number that is no date.
    """
    elapsed = any(text.startswith("[") for kind, text in tokens if kind == "date")
    if not (0 <= value < _LAST_SERIAL):
        return None
    exact = any(kind == "date" and "." in text for kind, text in tokens)
    seconds = round(value * 86_400, 3 if exact else 0)
    moment = _epoch(value, from_1904=from_1904) + timedelta(seconds=seconds)
    twelve = any(kind == "ampm" for kind, _ in tokens)
    shown = []
    for at, (kind, text) in enumerate(tokens):
        if kind == "date" and text.startswith("["):
            shown.append(str(int(seconds // _SECONDS[text[1]])).rjust(len(text) - 1, "0"))
        elif kind == "date":
            code = text.replace("m", "n") if _is_minute(tokens, at) else text
            shown.append(_part(code, moment, twelve=twelve and not elapsed))
        elif kind == "ampm":
            half = "AM" if moment.hour < 12 else "PM"
            shown.append(half[: len(text) // 2])
        elif kind in ("text", "digit"):
            shown.append(text)
    return "".join(shown).strip()


def _epoch(value: float, *, from_1904: bool) -> datetime:
    """Day 0. The calendar of 1900 counts a 29 February that never was, so days before it shift."""
    if from_1904:
        return datetime(1904, 1, 1)  # noqa: DTZ001
    return datetime(1899, 12, 30 if value >= 60 else 31)  # noqa: DTZ001


def _is_minute(tokens: Tokens, at: int) -> bool:
    """`m` is a minute right after hours or right before seconds."""
    if tokens[at][1] not in ("m", "mm"):
        return False
    before = [text for kind, text in tokens[:at] if kind == "date"]
    after = [text for kind, text in tokens[at + 1 :] if kind == "date"]
    return (bool(before) and before[-1].lstrip("[").startswith("h")) or (
        bool(after) and after[0].startswith("s")
    )


def _part(code: str, moment: datetime, *, twelve: bool) -> str:
    kind, (digits, _, fraction) = code[0], code.partition(".")
    width = len(digits)
    if kind == "y":
        return f"{moment.year:04}" if width > 2 else f"{moment.year % 100:02}"
    if kind == "m" and width > 2:
        name = moment.strftime("%B")
        return {3: name[:3], 5: name[:1]}.get(width, name)
    if kind == "d" and width > 2:
        return moment.strftime("%a" if width == 3 else "%A")
    hour = (moment.hour % 12 or 12) if twelve else moment.hour
    numbers = {
        "m": moment.month,
        "d": moment.day,
        "h": hour,
        "n": moment.minute,
        "s": moment.second,
    }
    text = f"{numbers[kind]:02}" if width > 1 else str(numbers[kind])
    return text + (f".{moment.microsecond:06}"[: len(fraction) + 1] if fraction else "")
