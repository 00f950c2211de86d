"""The one chain that every call passes, whatever it came over."""

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias, TypeVar

from cogni_domain.access.principal import Principal
from cogni_domain.access.resolver import (
    BAD_TOKEN,
    HostToken,
    NotAuthenticatedError,
    PrincipalResolver,
)
from cogni_domain.access.scope import NO_ACCESS
from cogni_kernel import Err, NotPermittedError, Result

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Call:
    """A call on its way in.

    Attributes:
        token: As it came, None where there was none.
        principal: Who asks, once it is known.
    """

    token: HostToken | None
    principal: Principal | None = None


Proceed: TypeAlias = Callable[[Call], Awaitable[Result[T]]]


class Middleware(ABC):
    """One link of the chain: refuses, or lets the call go on."""

    @abstractmethod
    async def call(self, call: Call, proceed: Proceed[T]) -> Result[T]:
        """Handle the call."""


@dataclass(frozen=True, slots=True)
class AuthenticationMiddleware(Middleware):
    """Resolves who asks, anew for every call."""

    resolver: PrincipalResolver

    async def call(self, call: Call, proceed: Proceed[T]) -> Result[T]:
        if call.token is None:
            return Err(NotAuthenticatedError(BAD_TOKEN))
        principal = await self.resolver.resolve(call.token)
        if isinstance(principal, Err):
            return principal
        return await proceed(replace(call, principal=principal.value))


class TenancyMiddleware(Middleware):
    """Lets nobody through without a tenant: fails closed."""

    async def call(self, call: Call, proceed: Proceed[T]) -> Result[T]:
        if call.principal is None or call.principal.tenant_id is None:
            return Err(NotPermittedError(NO_ACCESS))
        return await proceed(call)


@dataclass(frozen=True, slots=True)
class Pipeline:
    """The chain, outermost first.

    Source:
        COGNI.BUILD spec, package runtime, "Middleware"; DESIGN D25.
    """

    links: Sequence[Middleware]

    async def run(
        self, call: Call, handler: Callable[[Principal], Awaitable[Result[T]]]
    ) -> Result[T]:
        """Pass `call` through every link, then to the handler."""

        async def innermost(passed: Call) -> Result[T]:
            if passed.principal is None:
                return Err(NotAuthenticatedError(BAD_TOKEN))
            return await handler(passed.principal)

        proceed: Proceed[T] = innermost
        for link in reversed(self.links):
            proceed = _linked(link, proceed)
        return await proceed(call)


def _linked(link: Middleware, proceed: Proceed[T]) -> Proceed[T]:
    async def passed(call: Call) -> Result[T]:
        return await link.call(call, proceed)

    return passed


def standard_pipeline(resolver: PrincipalResolver) -> Pipeline:
    """Return the chain in its order: who, then which tenant."""
    return Pipeline((AuthenticationMiddleware(resolver), TenancyMiddleware()))
