"""Where events may be sent: an address outside, never one of this house."""

import ipaddress
import re
from dataclasses import dataclass
from typing import TypeAlias
from urllib.parse import urlsplit

Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address

MAX_URL = 500
_URL = re.compile(r"(?i:https?)://[A-Za-z0-9._~:/\[\]!$&'()*+,;=%-]+", re.ASCII)
_LABEL = r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
_NAME = re.compile(rf"(?:{_LABEL}\.)*[a-z](?:[a-z0-9-]{{0,61}}[a-z0-9])?")
_CARRIERS = tuple(
    map(
        ipaddress.IPv6Network,
        ("::/96", "::ffff:0:0:0/96", "64:ff9b::/96", "64:ff9b:1::/48", "2001::/32", "2002::/16"),
    )
)
"""IPv6 addresses that stand for an IPv4 address, which a gateway would go on to."""

_INSIDE = tuple(
    map(
        ipaddress.ip_network,
        ("192.0.0.0/24", "192.88.99.0/24", "fec0::/10", "3fff::/20", "5f00::/16"),
    )
)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An HTTP address that events are posted to.

    `scheme` and `host` are in small letters; a host that is an address is in its usual form.

    Raises:
        ValueError: It is no plain http or https address: it has a user, a query, a fragment, another
            alphabet, a host that only looks like a name, or is too long. The message says what is wrong.
    """

    url: str

    def __post_init__(self) -> None:
        if len(self.url) > MAX_URL:
            raise ValueError(f"at most {MAX_URL} characters")
        if not _URL.fullmatch(self.url):
            raise ValueError(
                "a plain https address, without a user, a query, a fragment or other letters"
            )
        port = urlsplit(self.url).port
        if port == 0:
            raise ValueError("there is no port 0")
        if self.address is None and not _NAME.fullmatch(self.host):
            raise ValueError("the host is neither a name nor an address in its usual form")

    @property
    def scheme(self) -> str:
        """The scheme, `https` or `http`."""
        return urlsplit(self.url).scheme

    @property
    def host(self) -> str:
        """The name or address, without brackets and without the dot of the root."""
        return (urlsplit(self.url).hostname or "").removesuffix(".")

    @property
    def address(self) -> Address | None:
        """The host as an address, None where it is a name."""
        try:
            return ipaddress.ip_address(self.host)
        except ValueError:
            return None

    @property
    def origin(self) -> str:
        """Scheme, host and port: what records may name, since a path may hold a secret."""
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc.lower()}"


@dataclass(frozen=True, slots=True)
class EndpointPolicy:
    """Decides what may be connected to.

    Attributes:
        allow_loopback: This machine too, and without TLS: for development in one process alone.
    """

    allow_loopback: bool = False

    def why_not(self, endpoint: Endpoint) -> str | None:
        """Return why nothing may be sent there, as far as the URL itself says; None where it may."""
        found = endpoint.address
        local = endpoint.host == "localhost" or (found is not None and found.is_loopback)
        if endpoint.scheme != "https" and not (self.allow_loopback and local):
            return "the address has to begin with https"
        if found is not None:
            return self.why_not_address(found)
        if local and not self.allow_loopback:
            return "that is this very machine"
        return None

    def why_not_address(self, address: Address) -> str | None:
        """Return why this address may not be connected to; None where it may."""
        if address.is_loopback and self.allow_loopback:
            return None
        return None if is_public(address) else "the address is not a public one"


def is_public(address: Address) -> bool:
    """Tell whether an address is one of the internet: global, for one receiver, no cloak of another address.

    >>> is_public(ipaddress.ip_address("169.254.169.254"))
    False
    """
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped is not None or address.scope_id is not None:
            return False
        if any(address in carrier for carrier in _CARRIERS):
            return False
    inside = any(address in network for network in _INSIDE if network.version == address.version)
    return address.is_global and not (address.is_multicast or address.is_reserved or inside)
