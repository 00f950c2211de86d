"""What every `TokenVerifierPort` promises."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from datetime import timedelta

import pytest

from cogni_domain.access.directory import VerifiedClaims
from cogni_domain.access.resolver import BAD_TOKEN, HostToken, NotAuthenticatedError
from cogni_domain.ports.token_verifier import TokenVerifierPort
from cogni_kernel import Result, TenantId
from cogni_testing.assertions import err, ok
from cogni_testing.doubles import FrozenClock

ACME = TenantId("acme")
GLOBEX = TenantId("globex")


class TokenVerifierContract(ABC):
    """Two tenants, acme and globex, each with a key of its own; time stands still."""

    @abstractmethod
    def make_verifier(self, clock: FrozenClock) -> TokenVerifierPort:
        """Return the verifier under test, which knows the keys of both tenants."""

    @abstractmethod
    def claims(self, tenant: TenantId, clock: FrozenClock) -> dict[str, object]:
        """Return good claims of the subject `alice`, valid from now for five minutes."""

    @abstractmethod
    def sign(self, tenant: TenantId, claims: Mapping[str, object]) -> str:
        """Return the claims as they are, signed with the tenant's key."""

    async def verify(
        self, tenant: TenantId, changes: Mapping[str, object]
    ) -> Result[VerifiedClaims]:
        """Verify good claims with `changes`; a claim changed to None is left out."""
        clock = FrozenClock()
        claims = {**self.claims(tenant, clock), **changes}
        token = self.sign(tenant, {k: v for k, v in claims.items() if v is not None})
        return await self.make_verifier(clock).verify(HostToken(token, from_loopback=False))

    async def test_a_good_token_says_who_asks_and_for_which_tenant(self) -> None:
        assert ok(await self.verify(ACME, {})) == VerifiedClaims(ACME, "alice")

    async def test_the_key_decides_the_tenant_and_never_a_claim(self) -> None:
        lies = {"tenant": "globex", "tenant_id": "globex", "tid": "globex"}

        assert ok(await self.verify(ACME, lies)).tenant_id == ACME

    async def test_the_actor_is_the_machine_that_acts_for_the_subject(self) -> None:
        claims = ok(await self.verify(ACME, {"act": {"sub": "report-bot"}}))

        assert claims == VerifiedClaims(ACME, "alice", "report-bot")

    async def test_a_subject_in_any_script_comes_through_unchanged(self) -> None:
        assert ok(await self.verify(ACME, {"sub": "Zoë·李雷"})).subject == "Zoë·李雷"

    @pytest.mark.parametrize(
        "changes",
        [
            pytest.param({"aud": "somebody-else"}, id="for another audience"),
            pytest.param({"aud": None}, id="for no audience"),
            pytest.param({"iss": "somebody-else"}, id="from another issuer"),
            pytest.param({"exp": None}, id="without an end"),
            pytest.param({"exp": 0}, id="long over"),
            pytest.param({"exp": "soon"}, id="with an end that is no time"),
            pytest.param({"nbf": True}, id="with a beginning that is no time"),
            pytest.param({"iat": True}, id="with an issue that is no time"),
            pytest.param({"sub": None}, id="without a subject"),
            pytest.param({"sub": " \u200b"}, id="with an unseen subject"),
            pytest.param({"sub": 41}, id="with a number for a subject"),
            pytest.param({"act": {"sub": ""}}, id="with an empty actor"),
            pytest.param({"act": "report-bot"}, id="with an actor that is no object"),
        ],
    )
    async def test_a_token_is_refused(self, changes: Mapping[str, object]) -> None:
        assert err(await self.verify(ACME, changes), NotAuthenticatedError).message == BAD_TOKEN

    async def test_a_token_ends_when_it_says(self) -> None:
        clock = FrozenClock()
        token = HostToken(self.sign(ACME, self.claims(ACME, clock)), from_loopback=False)
        verifier = self.make_verifier(clock)

        before = await verifier.verify(token)
        clock.advance(timedelta(minutes=6))

        assert ok(before) == VerifiedClaims(ACME, "alice")
        err(await verifier.verify(token), NotAuthenticatedError)

    async def test_a_token_from_the_future_is_refused_until_its_time(self) -> None:
        clock = FrozenClock()
        later = FrozenClock(clock.now() + timedelta(minutes=2))
        token = HostToken(self.sign(ACME, self.claims(ACME, later)), from_loopback=False)
        verifier = self.make_verifier(clock)

        err(await verifier.verify(token), NotAuthenticatedError)
        clock.advance(timedelta(minutes=2))

        assert ok(await verifier.verify(token)).subject == "alice"

    async def test_a_token_says_the_same_twice(self) -> None:
        clock = FrozenClock()
        token = HostToken(self.sign(ACME, self.claims(ACME, clock)), from_loopback=False)
        verifier = self.make_verifier(clock)

        assert ok(await verifier.verify(token)) == ok(await verifier.verify(token))

    @pytest.mark.parametrize(
        "value", ["", " ", "x", "a.b", "a.b.c", "....", "é", "\x00", "Bearer x"]
    )
    async def test_what_is_no_token_is_refused(self, value: str) -> None:
        verifier = self.make_verifier(FrozenClock())

        found = await verifier.verify(HostToken(value, from_loopback=True))

        assert err(found, NotAuthenticatedError).message == BAD_TOKEN

    async def test_every_change_of_one_character_is_noticed(self) -> None:
        clock = FrozenClock()
        verifier = self.make_verifier(clock)
        token = self.sign(ACME, self.claims(ACME, clock))
        places = range(0, len(token) - 4, 7)

        changed = [token[:n] + ("A" if token[n] != "A" else "B") + token[n + 1 :] for n in places]

        for value in changed:
            found = await verifier.verify(HostToken(value, from_loopback=False))
            err(found, NotAuthenticatedError)
