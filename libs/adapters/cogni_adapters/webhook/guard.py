"""The only way from here to a socket: every address is looked at, and the one looked at is connected to."""

import asyncio
import ipaddress
import socket
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import TypeAlias

import httpcore2

from cogni_domain.subscriptions_endpoint import Address, EndpointPolicy

Resolve: TypeAlias = Callable[[str, int], Awaitable[Sequence[Address]]]
"""Returns every address of a name; raises OSError where there is none."""


class BlockedError(Exception):
    """A host is, or is said to be, where nothing may be sent."""


async def resolve(host: str, port: int) -> Sequence[Address]:
    """Return every address that this machine's resolver gives for a name; raises OSError."""
    loop = asyncio.get_running_loop()
    try:
        found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except UnicodeError as error:
        raise OSError("this is no name of a host") from error
    return [ipaddress.ip_address(place[4][0]) for place in found]


class GuardedNetwork(httpcore2.AsyncNetworkBackend):
    """Connects where `EndpointPolicy` allows it, and nowhere else.

    A name is resolved once, all of its addresses are checked, and one of those is connected to: no second
    look-up can give another.
    """

    def __init__(
        self,
        policy: EndpointPolicy,
        inner: httpcore2.AsyncNetworkBackend,
        resolve_name: Resolve = resolve,
    ) -> None:
        self._policy = policy
        self._inner = inner
        self._resolve = resolve_name

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - the transport's own signature
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """Connect to the first address that answers; raises BlockedError where one of them is refused."""
        failure: Exception = httpcore2.ConnectError("the name has no address")
        for address in await self._allowed(host, port):
            try:
                return await self._inner.connect_tcp(
                    str(address), port, timeout, local_address, socket_options
                )
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                failure = error
        raise failure

    async def sleep(self, seconds: float) -> None:
        """Wait, as the transport asks."""
        await self._inner.sleep(seconds)

    async def _allowed(self, host: str, port: int) -> Sequence[Address]:
        try:
            found: Sequence[Address] = [ipaddress.ip_address(host)]
        except ValueError:
            try:
                found = await self._resolve(host, port)
            except OSError as error:
                raise httpcore2.ConnectError("the name cannot be resolved") from error
        for address in found:
            refusal = self._policy.why_not_address(address)
            if refusal is not None:
                raise BlockedError(refusal)
        return list(dict.fromkeys(found))
