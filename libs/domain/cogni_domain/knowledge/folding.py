"""One spelling for what a person reads as one word: width, case, composition, digits and accents."""

import re
import unicodedata

_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e0fff]+"
)
_OTHER_DIGIT = re.compile(r"[^\D0-9]")
_HYPHENS = str.maketrans("\u2010\u2019\u0131", "-'i")

_SEMITIC_MARKS = (
    "\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed"
)
_ACCENTS = re.compile(
    f"(?<=[a-z\u0370-\u03ff])[\u0300-\u036f]+|[\u0640{_SEMITIC_MARKS}]+"
    "|(?<=[аеиоуыэюяіє])\u0301|(?<=е)\u0308"
)
_LETTERS = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "ħ": "h", "ŧ": "t", "þ": "th", "æ": "ae", "œ": "oe"}
    | {"ٱ": "ا", "ى": "ي", "ی": "ي", "ک": "ك", "ة": "ه"}
)


def canonical(text: str) -> str:
    """Return `text` in small letters, composed, of normal width, with ASCII digits and nothing invisible.

    Accents stay, since stemmers need them. A second pass changes nothing.

    >>> canonical("ＦＯＯ Straße ٤٤")
    'foo strasse 44'
    """
    if text.isascii():
        return text.lower()
    text = unicodedata.normalize("NFKC", _INVISIBLE.sub("", text)).casefold()
    text = unicodedata.normalize("NFKC", _INVISIBLE.sub("", text)).casefold()
    text = unicodedata.normalize("NFC", text).translate(_HYPHENS)
    return _OTHER_DIGIT.sub(lambda digit: str(unicodedata.decimal(digit[0])), text)


def fold(word: str) -> str:
    """Return a canonical word without the accents that people leave out when they search.

    Marks that make another letter stay: those of Indic scripts, Thai vowels, kana, the Cyrillic short i.

    >>> fold("crème"), fold("łódź"), fold("й")
    ('creme', 'lodz', 'й')
    """
    if word.isascii():
        return word
    bare = _ACCENTS.sub("", unicodedata.normalize("NFD", word))
    return unicodedata.normalize("NFC", bare.translate(_LETTERS))
