"""What every `AccessRulesPort` promises."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

import pytest

from cogni_domain.access.rule import AccessRule
from cogni_domain.access.tokens import ReaderToken
from cogni_domain.ports.access_rules import AccessRulesPort
from cogni_domain.ports.document_store import DocumentStorePort
from cogni_kernel import DocumentId, TenantId
from cogni_testing.assertions import ok
from cogni_testing.contracts.knowledge import (
    ACME,
    ALL_BUT_BOB,
    EVERYONE,
    GLOBEX,
    HOSTILE_TEXTS,
    HR,
    HR_LEADS,
    IN_10_000_GROUPS,
    a_document,
    passages,
)


class AccessRulesContract(ABC):
    """Whatever rule may admit somebody is found by any token of that person."""

    @abstractmethod
    async def make_store(self) -> DocumentStorePort:
        """Return the document store that writes the rules."""

    @abstractmethod
    async def make_rules(self) -> AccessRulesPort:
        """Return the rules over the same data."""

    async def put(self, name: str, rule: AccessRule, tenant: TenantId = ACME) -> None:
        """Write a document under a rule."""
        store, document = await self.make_store(), a_document(name, rule, tenant=tenant)
        ok(await store.put(document, passages(document), []))

    async def found(self, *tokens: str, tenant: TenantId = ACME) -> Sequence[AccessRule]:
        """Return the candidates for who has these tokens."""
        rules = await self.make_rules()
        return ok(await rules.candidates(tenant, frozenset(map(ReaderToken, tokens))))

    async def test_without_documents_there_are_no_rules(self) -> None:
        assert list(await self.found("everyone", "u:alice")) == []

    @pytest.mark.parametrize("token", ["g:wiki/hr", "g:wiki/leads"])
    async def test_a_rule_is_found_by_a_token_of_any_of_its_clauses(self, token: str) -> None:
        await self.put("leave", HR_LEADS)

        (found,) = await self.found("u:alice", token)

        assert found.simplified() == HR_LEADS.simplified()
        assert found.digest == HR_LEADS.digest

    async def test_a_rule_that_denies_is_found_by_everyone(self) -> None:
        await self.put("leave", ALL_BUT_BOB)

        (found,) = await self.found("u:bob", "everyone")

        assert found.denied == {"u:bob"}

    async def test_tokens_that_are_in_no_clause_find_nothing(self) -> None:
        await self.put("leave", HR_LEADS.except_for("g:wiki/legal"))

        assert list(await self.found("g:wiki/legal", "g:wiki/h", "g:wiki/hrx", "hr")) == []
        assert list(await self.found()) == []

    async def test_a_rule_of_another_tenant_is_never_found(self) -> None:
        await self.put("leave", HR_LEADS, GLOBEX)

        assert list(await self.found("g:wiki/hr")) == []
        assert len(await self.found("g:wiki/hr", tenant=GLOBEX)) == 1

    async def test_one_rule_of_many_documents_is_found_once(self) -> None:
        for number in range(3):
            await self.put(f"d{number}", HR_LEADS)
        await self.put("d0", HR_LEADS, GLOBEX)

        assert len(await self.found("g:wiki/hr", "g:wiki/leads")) == 1

    async def test_a_rule_is_found_as_soon_as_a_document_is_under_it(self) -> None:
        await self.put("leave", HR)
        store = await self.make_store()

        ok(await store.change_rule(ACME, DocumentId("leave"), ALL_BUT_BOB, []))

        assert [rule.digest for rule in await self.found("everyone")] == [ALL_BUT_BOB.digest]

    async def test_all_rules_of_ten_thousand_tokens_are_found(self) -> None:
        tokens = sorted(IN_10_000_GROUPS.tokens())
        wanted = {
            rule.digest
            for number in range(0, 10_000, 500)
            for rule in [AccessRule.any_of(tokens[number % len(tokens)]).restricted_to("u:x")]
        }
        for number in range(0, 10_000, 500):
            rule = AccessRule.any_of(tokens[number % len(tokens)]).restricted_to("u:x")
            await self.put(f"d{number}", rule)

        found = {rule.digest for rule in await self.found(*tokens)}

        assert found >= wanted - {EVERYONE.restricted_to("u:x").digest}

    async def test_tokens_that_look_alike_are_different(self) -> None:
        for text in HOSTILE_TEXTS:
            await self.put(text, AccessRule.any_of(f"u:{text}").except_for("u:bob"))

        for text in HOSTILE_TEXTS:
            (found,) = await self.found(f"u:{text}")
            assert found.clauses == (frozenset({f"u:{text}"}),)
