"""From bytes to text, whatever wrote them; the choice is recorded."""

import codecs
import re
from collections.abc import Sequence
from dataclasses import dataclass

from charset_normalizer import from_bytes

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_LATIN = ("cp1252", "cp1250", "cp1254", "cp1257", "iso8859_2", "mac_roman", "cp850")
_OTHER = (
    "cp1251", "cp866", "koi8_r", "cp1253", "cp1256", "cp1255",
    "big5", "gb18030", "cp932", "euc_jp", "cp949",
)  # fmt: skip
_FREQUENT = frozenset(
    "éèàäöüçñãóíáßêôåøæïëîâõúýœ"
    "ąęłóśżźćńěščřžýůőűțșăđğışİģķļņūāēī"
    "оеаинтсрвлкмдпу" "οαιετσνηυρπκ" "ינוהלאמרתבשםע" "الينمرتبوسدع"
    "のにはをたがでてとしれさいるっんまかう的一是不了在人有我他这中大来上国这個們會說時"
    "이다는을에의가고하지한은로"
)  # fmt: skip
_SAMPLE_BYTES = 64 * 1024
_MOSTLY_ASCII = 0.35


@dataclass(frozen=True, slots=True)
class Decoded:
    """Text without its byte order mark.

    Attributes:
        warning: How the encoding was settled where nothing in the file said it; else empty.
    """

    text: str
    encoding: str
    warning: str = ""


def decode(data: bytes, declared: str | None = None) -> Decoded:
    """Try a byte order mark, UTF-16 by its zero bytes, UTF-8, what is declared, then a guess."""
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            return _decoded(data[len(mark) :], encoding)
    if wide := wide_encoding(data):
        return _decoded(data, wide, f"no byte order mark: read as {wide}")
    try:
        return Decoded(data.decode("utf-8"), "utf-8")
    except UnicodeDecodeError:
        pass
    for encoding in _known(declared):
        try:
            return Decoded(data.decode(encoding), encoding)
        except (UnicodeError, LookupError):
            pass
    text = data.decode("utf-8", "replace")
    if sum(char > "\x7f" for char in text) > 4 * text.count("\ufffd"):
        return Decoded(text, "utf-8", "damaged UTF-8: unreadable bytes were replaced")
    encoding = _guess(data[:_SAMPLE_BYTES])
    return _decoded(data, encoding, f"no encoding declared: read as {encoding}")


def wide_encoding(data: bytes) -> str | None:
    """UTF-16 without a mark, seen by zeros in every other byte of mostly Latin text."""
    sample = data[:4096]
    pairs = len(sample) // 2
    if pairs < 4:
        return None
    even, odd = sample[0::2].count(0) / pairs, sample[1::2].count(0) / pairs
    if odd > 0.4 and even < 0.05:
        return "utf-16-le"
    return "utf-16-be" if even > 0.4 and odd < 0.05 else None


def _decoded(data: bytes, encoding: str, warning: str = "") -> Decoded:
    text = data.decode(encoding, "replace")
    if not warning and "\ufffd" in text:
        warning = f"damaged {encoding}: unreadable bytes were replaced"
    return Decoded(text, encoding, warning)


def _known(declared: str | None) -> Sequence[str]:
    """The declared encoding if Python has it; Latin-1 and ASCII are read as what they mean, cp1252."""
    try:
        name = codecs.lookup(declared or "").name
    except (LookupError, ValueError):
        return ()
    if name in ("ascii", "iso8859-1"):
        return ("cp1252", "latin-1")
    return () if name.startswith(("utf", "unicode", "raw", "idna", "punycode")) else (name,)


def _guess(sample: bytes) -> str:
    """The likeliest encoding of text that is neither UTF-8 nor declared.

    Text that is mostly ASCII letters is Western or Central European unless its other characters
    are rare in all of those; the rest is left to charset-normalizer.
    """
    likely = {name: _plausibility(sample, name) for name in _LATIN}
    best = max(likely, key=lambda name: likely[name])
    latin = best if likely[best] > likely["cp1252"] + 0.05 else "cp1252"
    high = sum(byte > 0x7F for byte in sample)
    letters = len(re.findall(rb"[A-Za-z]", sample))
    if high < _MOSTLY_ASCII * (high + letters) and likely[latin] >= 0.5:
        return latin
    found = [
        (match.chaos, -match.coherence, -_plausibility(sample, match.encoding), match.encoding)
        for match in from_bytes(sample, cp_isolation=[*_OTHER, latin])
    ]
    return min(found)[-1] if found else latin


def _plausibility(sample: bytes, encoding: str) -> float:
    """The share of likely ones among the characters beyond ASCII; below 0 if it does not decode.

    A frequent letter is likely, and a sign (€, °, “) where it does not stand inside a word.
    """
    text = sample.decode(encoding, "replace")
    if "\ufffd" in text[:-1]:
        return -1.0
    neighbours = zip(" " + text, text, text[1:] + " ", strict=False)
    beyond = [trio for trio in neighbours if trio[1] > "\x7f"]
    likely = sum(
        not {char, char.lower()}.isdisjoint(_FREQUENT)
        if char.isalpha()
        else char == "’" or not (before.isalpha() and after.isalpha())
        for before, char, after in beyond
    )
    return likely / len(beyond) if beyond else -1.0
