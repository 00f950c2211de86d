"""Numbers of a sheet as its reader sees them: 1,599.99, 1.98E+08, 12-Mar-24."""

import math
import re
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from fractions import Fraction
from functools import lru_cache

from cogni_adapters.extraction.serial_date import format_date

GENERAL = "General"
BUILT_IN = {
    1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00", 5: '"$"#,##0_);("$"#,##0)', 6: '"$"#,##0_);("$"#,##0)',
    7: '"$"#,##0.00_);("$"#,##0.00)', 8: '"$"#,##0.00_);("$"#,##0.00)', 9: "0%", 10: "0.00%",
    11: "0.00E+00", 12: "# ?/?", 13: "# ??/??", 14: "m/d/yyyy", 15: "d-mmm-yy", 16: "d-mmm", 17: "mmm-yy",
    18: "h:mm AM/PM", 19: "h:mm:ss AM/PM", 20: "h:mm", 21: "h:mm:ss", 22: "m/d/yyyy h:mm",
    37: "#,##0_);(#,##0)", 38: "#,##0_);(#,##0)", 39: "#,##0.00_);(#,##0.00)", 40: "#,##0.00_);(#,##0.00)",
    41: "#,##0_);(#,##0)", 42: '"$"#,##0_);("$"#,##0)', 43: "#,##0.00_);(#,##0.00)",
    44: '"$"#,##0.00_);("$"#,##0.00)', 45: "mm:ss", 46: "[h]:mm:ss", 47: "mm:ss.0", 48: "##0.0E+0", 49: "@",
}  # fmt: skip

_TOKEN = re.compile(
    r'"(?P<quoted>[^"]*)"|\\(?P<escaped>.)|_.|\*.|\[(?P<bracket>[^\]]*)\]'
    r"|(?P<ampm>AM/PM|A/P)|(?P<exponent>E[+-])|(?P<general>General)"
    r"|(?P<date>[yY]+|[mM]+|[dD]+|[hH]+|[sS]+(?:\.0+)?)|(?P<digit>[0#?.,/%@]|(?<=/)\d+)|(?P<other>.)",
    re.S,
)
_CONDITION = re.compile(r"(?P<sign><=|>=|<>|<|>|=)(?P<number>-?[\d.]+)")
_ELAPSED = re.compile("h+|m+|s+", re.I)


@dataclass(frozen=True, slots=True)
class _Section:
    """One of the up to four formats between semicolons, as (kind, text) tokens."""

    tokens: tuple[tuple[str, str], ...]
    condition: tuple[str, float] | None

    def has(self, kind: str) -> bool:
        return any(token[0] == kind for token in self.tokens)

    @property
    def pattern(self) -> str:
        """The digits of a number without the text around them."""
        return "".join(text for kind, text in self.tokens if kind in ("digit", "exponent"))


def format_number(value: float, code: str, *, from_1904: bool = False) -> str:
    """Return `value` by a format code; what no rule here covers is shown as General shows it.

    >>> format_number(1599.99, "#,##0.00")
    '1,599.99'
    >>> format_number(198356388, "0.00E+00")
    '1.98E+08'
    """
    if not math.isfinite(value):
        return str(value)
    sections = _sections(code)
    section, shown = _choose(sections, value)
    if section.has("date"):
        return format_date(value, section.tokens, from_1904=from_1904) or _general(value)
    if not section.tokens:
        return _general(shown) if len(sections) == 1 else ""
    if not section.pattern:
        return _around(section, _general(shown) if section.has("general") else "")
    return _number(shown, section)


def _choose(sections: tuple[_Section, ...], value: float) -> tuple[_Section, float]:
    """The section for a value; the one for negatives writes its own sign."""
    for section in sections:
        if section.condition is not None:
            sign, limit = section.condition
            if {"<": value < limit, ">": value > limit, "=": value == limit, "<=": value <= limit,
                ">=": value >= limit, "<>": value != limit}[sign]:  # fmt: skip
                return section, value
    if any(section.condition for section in sections):
        return sections[-1], value
    if value < 0 and len(sections) > 1:
        return sections[1], -value
    return sections[2 if value == 0 and len(sections) > 2 else 0], value


@lru_cache(maxsize=512)
def _sections(code: str) -> tuple[_Section, ...]:
    parts = re.findall(r'(?:"[^"]*"|\\.|[^;"\\])+|(?<=;)(?=;|$)', code) or [GENERAL]
    return tuple(_parse(part) for part in parts[:4])


def _parse(part: str) -> _Section:
    tokens: list[tuple[str, str]] = []
    condition = None
    for match in _TOKEN.finditer(part):
        kind, text = match.lastgroup or "", match[match.lastgroup] if match.lastgroup else ""
        if kind == "bracket":
            if found := _CONDITION.fullmatch(text):
                condition = (found["sign"], float(found["number"]))
            elif _ELAPSED.fullmatch(text):
                tokens.append(("date", f"[{text.lower()}"))
            elif text.startswith("$"):
                tokens.append(("text", text[1:].split("-")[0]))
        elif kind in ("quoted", "escaped", "other"):
            tokens.append(("text", text))
        elif kind:
            tokens.append((kind, text.lower() if kind == "date" else text))
    return _Section(tuple(tokens), condition)


def _around(section: _Section, body: str) -> str:
    """The section's own words with `body` where its digits stand."""
    parts, placed = [], False
    for kind, text in section.tokens:
        if kind == "text":
            parts.append(text)
        elif not placed:
            parts.append(body)
            placed = True
    return "".join(parts if placed else [*parts, body]).strip()


def _number(value: float, section: _Section) -> str:
    pattern = section.pattern
    if "@" in pattern:
        return _around(section, _general(value))
    if "%" in pattern:
        value *= 100
    minus = "-" if value < 0 else ""
    if "/" in pattern:
        body = _fraction(abs(value), pattern)
    elif "E" in pattern:
        body = _scientific(abs(value), pattern)
    else:
        return _digits(abs(value), section, minus)
    return minus + _around(section, body)


def _digits(value: float, section: _Section, minus: str) -> str:
    """Fixed decimals, grouped by thousands; a text among the digits stays where it stands."""
    pattern = section.pattern.replace("%", "")
    while pattern.endswith(","):
        pattern, value = pattern[:-1], value / 1000
    whole, _, decimals = pattern.partition(".")
    decimals = decimals.replace(",", "")
    number = _round(value, len(decimals))
    digits, _, rest = f"{number:f}".partition(".")
    required = whole.count("0")
    digits = digits.lstrip("0").rjust(required, "0")
    if "," in whole:
        digits = re.sub(r"(?<=\d)(?=(?:\d{3})+$)", ",", digits)
    optional = len(decimals) - len(decimals.rstrip("#?"))
    rest = (
        rest[: len(rest) - optional] + rest[len(rest) - optional :].rstrip("0")
        if optional
        else rest
    )
    return _place(section, minus + digits, "." + rest if rest else "")


def _place(section: _Section, digits: str, decimals: str) -> str:
    """The digits where the code has them: all at its first place, or one by one around texts in between."""
    kinds = ["" if kind != "digit" else text for kind, text in section.tokens]
    point = kinds.index(".") if "." in kinds else len(kinds)
    places = [at for at in range(point) if kinds[at] in tuple("0#?")]
    parted = places and any(not kinds[at] for at in range(places[0], places[-1]))
    parts: list[str] = []
    for at, (kind, text) in enumerate(section.tokens):
        if at == point:
            parts.append(decimals if places else digits + decimals)
        elif kind == "text" or text == "%":
            parts.append(text)
        elif at in places and not parted:
            parts.append(digits if at == places[0] else "")
        elif at in places:
            rest = len(places) - places.index(at) - 1
            end = len(digits) - rest
            parts.append(digits[:end] if at == places[0] else digits[max(end - 1, 0) : max(end, 0)])
    return "".join(parts).strip()


def _scientific(value: float, pattern: str) -> str:
    mantissa, _, exponent = pattern.partition("E")
    decimals = len(mantissa.partition(".")[2])
    text = f"{value:.{decimals}e}"
    number, _, power = text.partition("e")
    sign = "-" if power.startswith("-") else "+" if exponent.startswith("+") else ""
    return f"{number}E{sign}{power.lstrip('+-').lstrip('0').rjust(exponent.count('0'), '0')}"


def _fraction(value: float, pattern: str) -> str:
    below = pattern.rpartition("/")[2]
    whole = int(value)
    if below.isdigit() and below.strip("0"):
        bottom = int(below)
        part = Fraction(round((value - whole) * bottom), bottom)
        top = round((value - whole) * bottom)
    else:
        part = Fraction(value - whole).limit_denominator(10 ** max(1, len(below)) - 1)
        top, bottom = part.numerator, part.denominator
    if part == 1:
        whole, top = whole + 1, 0
    if not top:
        return str(whole)
    return f"{whole} {top}/{bottom}" if whole else f"{top}/{bottom}"


def _round(value: float, decimals: int) -> Decimal:
    try:
        return Decimal(repr(value)).quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP)
    except InvalidOperation:
        return Decimal(repr(value))


def _general(value: float) -> str:
    """Eleven digits at most, as the General format shows."""
    if value == int(value) and abs(value) < 1e11:
        return str(int(value))
    text = f"{value:.10g}" if 1e-4 <= abs(value) < 1e11 else f"{value:.5E}"
    if "E" in text:
        number, _, power = text.partition("E")
        text = f"{number.rstrip('0').rstrip('.')}E{power}"
    return text
