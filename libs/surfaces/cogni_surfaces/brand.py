"""What a tenant may change of a surface's look, and nothing that discloses."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from cogni_kernel import HumanText, InvalidArgumentError

_COLOUR = re.compile(r"#[0-9a-fA-F]{6}")
_LENGTH = re.compile(r"(?:[0-9]|1[0-9]|2[0-4])px")
_NAME = re.compile(r"[^\x00-\x1f\x7f-\x9f<>&\u200b-\u200f\u2028-\u202e\u2060-\u206f]{1,40}")
_FONTS = ("system", "serif", "mono", "rounded")
_DENSITIES = ("comfortable", "compact")
_ICONS = ("line", "filled", "none")
_PLACES = ("left", "right")

_VALID: Mapping[str, re.Pattern[str]] = {
    "colour_accent": _COLOUR,
    "colour_on_accent": _COLOUR,
    "colour_background": _COLOUR,
    "colour_surface": _COLOUR,
    "colour_text": _COLOUR,
    "radius": _LENGTH,
    "font": re.compile("|".join(_FONTS)),
    "density": re.compile("|".join(_DENSITIES)),
    "icons": re.compile("|".join(_ICONS)),
    "placement": re.compile("|".join(_PLACES)),
    "name": _NAME,
}
_PAIRS = (
    ("colour_text", "colour_background"),
    ("colour_text", "colour_surface"),
    ("colour_on_accent", "colour_accent"),
)
_LEAST_CONTRAST = 4.5


@dataclass(frozen=True, slots=True)
class BrandTokens:
    """Colours, type, radius, density, icons, place and name, each from a closed set of values.

    The label, the sources, the freshness and the confirmation step have no token: they are made from the
    tokens that any text has, which must be readable.

    Source:
        COGNI.BUILD spec, package surfaces, "BrandTokens".
    """

    tokens: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if (wrong := wrong_token(self.tokens)) is not None:
            raise ValueError(str(wrong.message))

    @staticmethod
    def of(stored: Mapping[str, str]) -> "BrandTokens":
        """Return those of a tenant's tokens that are valid: a wrong one must not keep a surface from opening."""
        known = {k: v for k, v in stored.items() if wrong_token({k: v}) is None}
        if wrong_token(known) is None:
            return BrandTokens(known)
        return BrandTokens({k: v for k, v in known.items() if not k.startswith("colour_")})


def wrong_token(tokens: Mapping[str, object]) -> InvalidArgumentError | None:
    """Return why these are no brand tokens, None where they are."""
    for name, value in tokens.items():
        if name not in _VALID:
            return _wrong(f"there is no brand token {name[:40]!r}; there are {', '.join(_VALID)}")
        if not isinstance(value, str) or not _VALID[name].fullmatch(value):
            return _wrong(f"the brand token {name} has no such value")
    for text, ground in _PAIRS:
        if text in tokens and ground in tokens:
            ratio = contrast(str(tokens[text]), str(tokens[ground]))
            if ratio < _LEAST_CONTRAST:
                return _wrong(f"{text} on {ground} has a contrast of {ratio:.1f}; 4.5 is the least")
    return None


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours, 1 to 21, as WCAG 2 defines it.

    >>> round(contrast("#000000", "#ffffff"))
    21
    """
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: str) -> float:
    parts = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _wrong(text: str) -> InvalidArgumentError:
    return InvalidArgumentError(
        HumanText(f"{text[0].upper()}{text[1:]}."), detail={"field": "brand"}
    )
