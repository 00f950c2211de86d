"""Addresses in text: where one begins and ends, and the one form in which two are compared."""

import re
from dataclasses import dataclass
from urllib.parse import quote, urlsplit, urlunsplit

import idna

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
_TRACKING = re.compile(
    r"(?:utm_[a-z0-9_]+|gclid|gbraid|wbraid|dclid|fbclid|msclkid|yclid|twclid|igshid|mc_[ce]id|_hsenc|_hsmi)\Z",
    re.IGNORECASE,
)
_ENCODED = re.compile("%([0-9A-Fa-f]{2})")
_UNRESERVED = re.compile(r"[A-Za-z0-9._~\-]")
_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]+")
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
                found |= canonical_forms(form) | canonical_forms(form.partition("#")[0])
            rest = rest[address.start + end :]
    return frozenset(found)


def canonical_forms(url: str) -> frozenset[str]:
    """Return the canonical form of an address that was retrieved, and that of it without what only tracks."""
    return frozenset({canonical_url(url), canonical_url(without_tracking(url))})


def canonical_url(url: str) -> str:
    """Return the one form in which addresses are compared.

    Scheme and host are folded, the host in its ASCII form; no default port, no last slash; signs are encoded only
    where that makes a difference. What two readers could take for two hosts, by a user name or a backslash, stays
    as it is, and so is equal to nothing but itself.

    >>> canonical_url("HTTPS://B\u00fccher.example.:443/%7eme/")
    'https://xn--bcher-kva.example/~me'
    """
    try:
        parts = urlsplit(url if "://" in url else f"https://{url.lstrip('/')}")
        if "@" in parts.netloc or _MISLEADING.search(url):
            return url
        port = "" if parts.port in (None, _PORTS.get(parts.scheme)) else f":{parts.port}"
        host = _ascii_host(parts.hostname or "")
    except ValueError:
        return url
    path, query, fragment = map(_encoded, (parts.path.rstrip("/"), parts.query, parts.fragment))
    return urlunsplit((parts.scheme, f"{host}{port}", path, query, fragment))


def without_tracking(url: str) -> str:
    """Return an address without the parameters that say where a reader came from; the rest as it is written."""
    before, question, after = url.partition("?")
    query, hash_sign, fragment = after.partition("#")
    if not question:
        return url
    kept = [each for each in query.split("&") if not _TRACKING.match(each.partition("=")[0])]
    return f"{before}{'?' if kept else ''}{'&'.join(kept)}{hash_sign}{fragment}"


def _ascii_host(host: str) -> str:
    """Return a host in its ASCII form.

    Raises:
        ValueError: It has none.
    """
    if host.isascii():
        return f"[{host}]" if ":" in host else host.rstrip(".")
    return idna.encode(host, uts46=True).decode("ascii").rstrip(".")


def _encoded(part: str) -> str:
    """Return a part of an address with its signs encoded where they must be, and nowhere else."""
    part = _BEYOND_ASCII.sub(lambda found: quote(found[0], safe=""), part)
    return _ENCODED.sub(_as_it_must_be, part)


def _as_it_must_be(encoded: re.Match[str]) -> str:
    sign = chr(int(encoded[1], 16))
    return sign if _UNRESERVED.fullmatch(sign) else encoded[0].upper()
