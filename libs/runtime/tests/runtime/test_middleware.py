from dataclasses import dataclass, field

import pytest

from cogni_adapters.memory.directory import MemoryDirectoryAdapter
from cogni_domain.access.directory import Account, Tenant, VerifiedClaims
from cogni_domain.access.grants import GrantCatalogue
from cogni_domain.access.principal import Principal, PrincipalKind
from cogni_domain.access.resolver import (
    BAD_TOKEN,
    HostToken,
    NotAuthenticatedError,
    PrincipalResolver,
    TenantDisabledError,
    TokenVerifier,
)
from cogni_kernel import (
    ConflictError,
    Err,
    HumanText,
    NotPermittedError,
    Ok,
    PrincipalId,
    Result,
    TenantId,
)
from cogni_runtime.middleware import (
    AuthenticationMiddleware,
    Call,
    Middleware,
    Pipeline,
    Proceed,
    T,
    TenancyMiddleware,
    standard_pipeline,
)
from cogni_testing import err, fake_principal, ok

ACME = TenantId("acme")
TOKEN = HostToken("alice", from_loopback=True)


class SubjectIsTheToken(TokenVerifier):
    """Believes whatever is not empty."""

    async def verify(self, token: HostToken) -> Result[VerifiedClaims]:
        if not token.value:
            return Err(NotAuthenticatedError(BAD_TOKEN))
        return Ok(VerifiedClaims(ACME, token.value))


@dataclass
class Handler:
    """Remembers who came through."""

    seen: list[Principal] = field(default_factory=list)

    async def __call__(self, principal: Principal) -> Result[str]:
        self.seen.append(principal)
        return Ok("handled")


@dataclass(frozen=True)
class Noting(Middleware):
    """Writes down when it is passed, on the way in and out."""

    name: str
    notes: list[str]

    async def call(self, call: Call, proceed: Proceed[T]) -> Result[T]:
        self.notes.append(f"{self.name} in")
        result = await proceed(call)
        self.notes.append(f"{self.name} out")
        return result


@pytest.fixture
def handler() -> Handler:
    return Handler()


async def pipeline(*, enabled: bool = True) -> Pipeline:
    directory = MemoryDirectoryAdapter()
    ok(await directory.put_tenant(Tenant(ACME, "Acme", enabled)))
    account = Account(PrincipalId("alice"), ACME, PrincipalKind.HUMAN, "Alice")
    ok(await directory.put_account(account, "alice"))
    resolver = PrincipalResolver(SubjectIsTheToken(), directory, GrantCatalogue(()))
    return standard_pipeline(resolver)


async def test_the_chain_asks_who_before_it_asks_which_tenant() -> None:
    links = (await pipeline()).links

    assert [type(link) for link in links] == [AuthenticationMiddleware, TenancyMiddleware]


async def test_who_is_known_comes_through(handler: Handler) -> None:
    chain = await pipeline()

    assert ok(await chain.run(Call(TOKEN), handler)) == "handled"
    assert [str(principal.id) for principal in handler.seen] == ["alice"]


@pytest.mark.parametrize("token", [None, HostToken("", from_loopback=True)])
async def test_nobody_in_particular_does_not_come_through(
    handler: Handler, token: HostToken | None
) -> None:
    chain = await pipeline()

    err(await chain.run(Call(token), handler), NotAuthenticatedError)
    assert not handler.seen


async def test_a_token_of_nobody_known_does_not_come_through(handler: Handler) -> None:
    chain = await pipeline()

    err(
        await chain.run(Call(HostToken("mallory", from_loopback=True)), handler),
        NotAuthenticatedError,
    )
    assert not handler.seen


async def test_a_tenant_that_is_switched_off_does_not_come_through(handler: Handler) -> None:
    chain = await pipeline(enabled=False)

    err(await chain.run(Call(TOKEN), handler), TenantDisabledError)
    assert not handler.seen


async def test_who_the_call_claims_to_be_is_never_believed(handler: Handler) -> None:
    chain = await pipeline()
    claimed = fake_principal(["handbook.search"], id="administrator")

    err(await chain.run(Call(None, claimed), handler), NotAuthenticatedError)
    ok(await chain.run(Call(TOKEN, claimed), handler))
    assert [str(principal.id) for principal in handler.seen] == ["alice"]


async def test_a_principal_without_a_tenant_is_refused(handler: Handler) -> None:
    chain = Pipeline((TenancyMiddleware(),))

    for principal in (None, fake_principal(tenant=None)):
        err(await chain.run(Call(TOKEN, principal), handler), NotPermittedError)
    assert not handler.seen


async def test_a_chain_without_links_lets_nobody_through(handler: Handler) -> None:
    err(await Pipeline(()).run(Call(TOKEN), handler), NotAuthenticatedError)
    assert not handler.seen


async def test_links_are_passed_in_their_order_and_left_in_reverse(handler: Handler) -> None:
    notes: list[str] = []
    whole = await pipeline()
    chain = Pipeline((Noting("first", notes), *whole.links, Noting("last", notes)))

    ok(await chain.run(Call(TOKEN), handler))

    assert notes == ["first in", "last in", "last out", "first out"]


async def test_what_is_refused_early_never_reaches_the_links_behind(handler: Handler) -> None:
    notes: list[str] = []
    whole = await pipeline()
    chain = Pipeline((Noting("outer", notes), *whole.links, Noting("inner", notes)))

    err(await chain.run(Call(None), handler), NotAuthenticatedError)

    assert notes == ["outer in", "outer out"]


async def test_what_the_handler_says_comes_back_unchanged() -> None:
    chain = await pipeline()
    error = ConflictError(HumanText("Somebody was first."))

    async def refuses(_: Principal) -> Result[str]:
        return Err(error)

    assert err(await chain.run(Call(TOKEN), refuses), ConflictError) is error
