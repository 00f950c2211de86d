"""Addresses in text: where one begins and ends, and the one form in which two are compared."""

import re
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit, urlunsplit

_STARTS = re.compile(
    r"(?<![a-z0-9+.\-])[0-9+.\-]*(?P<scheme>[a-z][a-z0-9+.\-]+):/{2,}[^\s/]"
    r"|(?<![a-z0-9+.\-])(?:https?|ftp|wss?):/?[^\s/\\]"
    r"|(?<![a-z0-9_:/.\-])/{2,}[^\s/.,;:]+\.[^\s/.,;:]"
    r"|(?<![a-z0-9_.\-])www\.[^\s.,;:]",
    re.IGNORECASE,
)
_WORDS = re.compile(r"[^\s<>\"`|\[\]\uff3b\uff3d]+")
_ASCII = re.compile(r"[\x21-\x7e]+")
_TRAILING = ".,;:!?'*_)\u2019\u201d\u2026\u3001\u3002\u300b\u300d\u300f\u3011\uff01\uff09\uff0c\uff1a\uff1b\uff1f"
_PORTS = {"http": 80, "https": 443}
_MISLEADING = re.compile(r"[\\\s\x00-\x1f\x7f]")


@dataclass(frozen=True, slots=True)
class Address:
    """An address within a word: `text`, without the punctuation that only follows it, from `start` on."""

    start: int
    text: str


def address_in(word: str) -> Address | None:
    """Return the first address in a text without spaces, or None.

    >>> address_in("(https://a.example/x).")
    Address(start=1, text='https://a.example/x')
    """
    found = _STARTS.search(word)
    if found is None:
        return None
    start = found.start() if found["scheme"] is None else found.start("scheme")
    return Address(start, word[start:].rstrip(_TRAILING))


def addresses_in(text: str) -> frozenset[str]:
    """Return the canonical form of every address in a text, each also without its fragment.

    Where other letters follow at once, as in Chinese, the address may end before them too.
    """
    found: set[str] = set()
    for word in _WORDS.findall(text):
        rest = word
        while (address := address_in(rest)) is not None:
            ascii_part = _ASCII.match(address.text)
            end = ascii_part.end() if ascii_part else 1
            for form in {address.text, address.text[:end].rstrip(_TRAILING)}:
                found |= {canonical_url(form), canonical_url(form.partition("#")[0])}
            rest = rest[address.start + end :]
    return frozenset(found)


def canonical_url(url: str) -> str:
    """Return the one form in which addresses are compared: scheme and host folded, no last slash.

    What two readers could take for two hosts, by a user name or a backslash, stays as it is.
    """
    try:
        parts = urlsplit(url if "://" in url else f"https://{url.lstrip('/')}")
        if "@" in parts.netloc or _MISLEADING.search(url):
            return url
        port = "" if parts.port in (None, _PORTS.get(parts.scheme)) else f":{parts.port}"
    except ValueError:
        return url
    host, path = f"{parts.hostname or ''}{port}", unquote(parts.path).rstrip("/")
    return urlunsplit((parts.scheme, host, path, parts.query, parts.fragment))
