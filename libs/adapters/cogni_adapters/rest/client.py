"""One client of one source: paced, bounded, and patient where the source asks for it."""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TypeVar

import httpx2

from cogni_adapters.rest.failures import AWAY, SourceFailedError, error_of, unexpected
from cogni_kernel import UpstreamError

ATTEMPTS = 4
PACE_S = 0.1
FIRST_WAIT_S = 1.0
LONGEST_WAIT_S = 60.0
TIMEOUT_S = 30.0
MAX_BYTES = 64 * 2**20
AGAIN = frozenset({408, 425, 429, 500, 502, 503, 504})

T = TypeVar("T")
Parameters = Mapping[str, str | int]


class RestClient:
    """Asks one source. Only reads: every call may be made again.

    Calls are at least `pace_s` apart; one that is told to wait, or finds nobody, is made again after what the
    source asks for or a doubling pause, at most `ATTEMPTS` times. A source that asks for longer than
    `LONGEST_WAIT_S` is left alone: the job that asks comes back later. No redirection is followed, since the
    account's secret would go with it.

    Args:
        base_url: Where the source is, `https://wiki.example`, perhaps with a path.
        auth: Name and password, or token, of the account that crawls.
        bearer: A token that stands for both.
        pace_s: Least time between two calls.
    """

    def __init__(
        self,
        base_url: str,
        *,
        auth: tuple[str, str] | None = None,
        bearer: str | None = None,
        pace_s: float = PACE_S,
        transport: httpx2.AsyncBaseTransport | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.base_url = base_url.rstrip("/")
        headers = {"Authorization": f"Bearer {bearer}"} if bearer else {}
        self._client = httpx2.AsyncClient(
            auth=auth, headers=headers, timeout=TIMEOUT_S, transport=transport, trust_env=False
        )
        self._pace_s, self._sleep = pace_s, sleep
        self._next_at = 0.0

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def get(self, path: str, parameters: Parameters | None = None) -> object:
        """Return the JSON at a path.

        Raises:
            SourceFailedError: The source does not answer, refuses, or says something else.
        """
        return await self._again(self._request("GET", path, parameters), _from_json)

    async def call(self, path: str, body: bytes, media_type: str) -> bytes:
        """Return what a reading call answers that is made by POST.

        Raises:
            SourceFailedError: The source does not answer, or refuses.
        """
        headers = {"Content-Type": media_type}
        request = self._client.build_request(
            "POST", self.base_url + path, content=body, headers=headers
        )
        return await self._again(request, bytes)

    def _request(self, method: str, path: str, parameters: Parameters | None) -> httpx2.Request:
        headers = {"Accept": "application/json"}
        url = self.base_url + path
        return self._client.build_request(
            method, url, params=dict(parameters or {}), headers=headers
        )

    async def _again(self, request: httpx2.Request, decode: Callable[[bytes], T]) -> T:
        wait_s = FIRST_WAIT_S
        for attempt in range(1, ATTEMPTS + 1):
            try:
                return await self._once(request, decode)
            except _WorthAgainError as failed:
                asked_s = wait_s if failed.wait_s is None else failed.wait_s
                if attempt == ATTEMPTS or asked_s > LONGEST_WAIT_S:
                    raise failed.because from failed
            await self._sleep(asked_s)
            wait_s *= 2
        raise AssertionError("the last attempt returns or raises")

    async def _once(self, request: httpx2.Request, decode: Callable[[bytes], T]) -> T:
        await self._paced()
        try:
            response = await self._client.send(request, stream=True)
            try:
                body = await _bounded(response)
            finally:
                await response.aclose()
        except httpx2.HTTPError as failure:
            detail = {"failure": type(failure).__name__}
            raise _WorthAgainError(
                SourceFailedError(UpstreamError(AWAY, detail=detail))
            ) from failure
        if response.status_code in AGAIN:
            wait_s = _asked_to_wait(response.headers)
            raise _WorthAgainError(SourceFailedError(error_of(response.status_code)), wait_s)
        if response.status_code not in (200, 201):
            raise SourceFailedError(error_of(response.status_code))
        try:
            return decode(body)
        except ValueError as failure:
            raise _WorthAgainError(unexpected("half an answer, or none in this form")) from failure

    async def _paced(self) -> None:
        now = time.monotonic()
        wait_s, self._next_at = self._next_at - now, max(now, self._next_at) + self._pace_s
        if wait_s > 0:
            await self._sleep(wait_s)


class _WorthAgainError(Exception):
    """An attempt failed in a way that passes."""

    def __init__(self, because: SourceFailedError, wait_s: float | None = None) -> None:
        super().__init__(str(because))
        self.because = because
        self.wait_s = wait_s


async def _bounded(response: httpx2.Response) -> bytes:
    body = bytearray()
    async for part in response.aiter_bytes():
        body += part
        if len(body) > MAX_BYTES:
            raise unexpected(f"an answer of more than {MAX_BYTES} bytes")
    return bytes(body)


def _asked_to_wait(headers: Mapping[str, str]) -> float | None:
    """Return the seconds of Retry-After, given as such or as a date."""
    said = headers.get("Retry-After", "").strip()
    if said.isascii() and said.isdigit():
        return float(said)
    try:
        until = parsedate_to_datetime(said)
    except ValueError:
        return None
    if until.tzinfo is None:
        until = until.replace(tzinfo=UTC)
    return max(0.0, (until - datetime.now(UTC)).total_seconds())


def _from_json(body: bytes) -> object:
    found: object = json.loads(body)
    return found
