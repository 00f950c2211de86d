"""One way for every call: pass the chain, call, encode; an error becomes problem details."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from starlette.requests import Request
from starlette.responses import Response

from cogni_domain.access.principal import Principal
from cogni_domain.access.resolver import HostToken
from cogni_edge.problems import problem, status_of
from cogni_edge.requests import language_in, token_of
from cogni_kernel import Err, Ok, Result
from cogni_runtime.middleware import Call, Pipeline

FLOOR_S = 0.02
"""A 404 takes at least this long, so that absent and forbidden take the same."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Answering:
    """Answers for whoever the token proves."""

    pipeline: Pipeline

    async def answer(
        self,
        request: Request,
        handler: Callable[[Principal], Awaitable[Result[T]]],
        encode: Callable[[T], Response],
    ) -> Response:
        """Answer one request."""
        result = await self.result(token_of(request), handler)
        if isinstance(result, Ok):
            return encode(result.value)
        return problem(result.error, language_in(request))

    async def result(
        self, token: HostToken | None, handler: Callable[[Principal], Awaitable[Result[T]]]
    ) -> Result[T]:
        """Return what a handler answers to whoever the token proves."""
        started = asyncio.get_running_loop().time()
        result = await self.pipeline.run(Call(token), handler)
        if isinstance(result, Err) and status_of(result.error) == 404:
            await asyncio.sleep(started + FLOOR_S - asyncio.get_running_loop().time())
        return result
