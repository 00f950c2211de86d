"""What pretends to be a handle or a marker: other scripts, other widths, codes."""

import html
import re
import unicodedata
from urllib.parse import unquote

from cogni_engine import MarkerKind

_HANDLE = re.compile(r"\[\s*s[0-9][0-9a-z.]*\s*\]\Z", re.ASCII | re.IGNORECASE)
_MARKER = re.compile(r"\[\[\s*([a-z]{2,16})\s*:([^\[\]]*)(?:\]\]?)?\Z", re.ASCII | re.IGNORECASE)
_REFERENCE = re.compile(r"\s*[a-z]{0,2}[0-9]+\s*\Z", re.ASCII | re.IGNORECASE)
_KINDS = frozenset(kind.name for kind in MarkerKind)
_LOOKALIKES = str.maketrans(
    "ѕсаеортїіѕАВЕКМНОРСТХЅІ\ua731ΑΒΕΗΙΚΜΝΟΡΤΧ", "scaeoptiisABEKMHOPCTXSIsABEHIKMNOPTX"
)
_FORMATTING = frozenset("\\*`~")
_UNSEEN = frozenset({"Cf", "Cc", "Mn"})


def forged(text: str) -> str | None:
    """Return what a text that ends in a closing bracket passes itself off as, `citation` or `marker`.

    The genuine articles count too: who calls this has looked for them before.

    >>> forged("see [s\\uff11]"), forged("[[chart:c1]]"), forged("[[Team:Finance]]")
    ('citation', 'marker', None)
    """
    plain = _plain(text)
    if _HANDLE.search(plain):
        return "citation"
    marker = _MARKER.search(plain)
    if marker is None:
        return None
    name, refers = marker[1], _REFERENCE.match(marker[2]) is not None
    known = name.upper() in _KINDS
    return "marker" if (known or refers) and (name.isupper() or (known and refers)) else None


def _plain(text: str) -> str:
    """Undo what makes one thing look like another: codes, widths, look-alike letters, formatting."""
    decoded = unicodedata.normalize("NFKC", html.unescape(unquote(text))).translate(_LOOKALIKES)
    return "".join(map(_plain_character, decoded))


def _plain_character(char: str) -> str:
    category = unicodedata.category(char)
    if category in _UNSEEN or char in _FORMATTING:
        return ""
    return str(unicodedata.decimal(char)) if category == "Nd" else char
