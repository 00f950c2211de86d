"""Whatever happens to documents, rules and groups, the stores show exactly what the rules allow."""

import asyncio
import shutil
import tempfile
from collections.abc import Awaitable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from cogni_adapters.database.access_rules import DatabaseAccessRulesAdapter
from cogni_adapters.database.documents import DatabaseDocumentStoreAdapter
from cogni_adapters.database.engine import Database
from cogni_adapters.database.vector_store import DatabaseVectorStoreAdapter
from cogni_domain.access.principal import Principal
from cogni_domain.access.rule import AccessRule
from cogni_domain.knowledge.corpus import Document, IndexId
from cogni_domain.ports.embedder import Vectors
from cogni_kernel import ChunkId, CorpusId, DocumentId, NotFoundError, Ok
from cogni_testing.assertions import err, ok
from cogni_testing.contracts.knowledge import (
    ACME,
    GLOBEX,
    HANDBOOK,
    TICKETS,
    a_document,
    passages,
    reach,
)
from cogni_testing.fixtures import fake_principal

T = TypeVar("T")

TOP_LEVEL = ("d0", "d1", "d2", "d3")
PARENTS = {"d0!1": "d0", "d0!1!1": "d0!1", "d1!1": "d1"}
GROUPS = ("wiki/a", "wiki/b", "wiki/c")
PEOPLE = ("p", "q")
TOKENS = ("everyone", *(f"g:{group}" for group in GROUPS), *(f"u:{person}" for person in PEOPLE))
QUESTION: Vectors = np.array([[1.0, 0.0]], np.float32)

names = st.sampled_from([*TOP_LEVEL, *PARENTS])
corpora = st.sampled_from([HANDBOOK, TICKETS])
tokens = st.frozensets(st.sampled_from(TOKENS), max_size=3)
rules = st.builds(
    lambda clauses, denied: AccessRule(
        tuple(AccessRule.any_of(*clause).clauses[0] for clause in clauses)
    ).except_for(*denied),
    st.lists(tokens, min_size=1, max_size=3),
    st.frozensets(st.sampled_from(TOKENS), max_size=1),
)


@dataclass
class Standing:
    """What is true of a document at its source, and whether the index has been told."""

    document: Document
    rule: AccessRule
    chunks: list[ChunkId]
    is_indexed: bool = True


class Histories(RuleBasedStateMachine):
    """A small company. The reference is this dictionary, and `AccessRule.admits` on every entry of it."""

    migrated: Path

    @initialize()
    def begin(self) -> None:
        self.runner = asyncio.Runner()
        self.folder = tempfile.TemporaryDirectory()
        path = Path(self.folder.name) / "cogni.db"
        shutil.copy(self.migrated, path)
        self.database = Database(f"sqlite:///{path}")
        self.documents = DatabaseDocumentStoreAdapter(self.database)
        self.compound = DatabaseAccessRulesAdapter(self.database)
        self.vectors = DatabaseVectorStoreAdapter(self.database)
        self.standing: dict[str, Standing] = {}
        self.version = 0
        self.people = {person: fake_principal(id=person) for person in PEOPLE}

    def teardown(self) -> None:
        self.done(self.database.close())
        self.runner.close()
        self.folder.cleanup()

    def done(self, work: Awaitable[T]) -> T:
        async def wait() -> T:
            return await work

        return self.runner.run(wait())

    @rule(name=names, acl=rules, corpus=corpora, texts=st.integers(0, 3), told=st.booleans())
    def put(self, name: str, acl: AccessRule, corpus: CorpusId, texts: int, told: bool) -> None:
        self.version += 1
        parent = PARENTS.get(name)
        document = a_document(
            name,
            acl,
            version=self.version,
            corpus=corpus,
            parent=None if parent is None else DocumentId(parent),
        )
        chunks = passages(document, *map(str, range(texts))) if texts else []
        written = self.done(self.documents.put(document, chunks, []))
        if parent is not None and parent not in self.standing:
            err(written, NotFoundError)
            return
        ok(written)
        self.forget(name)
        acl = acl if parent is None else self.standing[parent].rule
        self.standing[name] = Standing(document, acl, [chunk.id for chunk in chunks], told)
        self.set_rule(name, acl, told)
        self.tell(name)

    @rule(name=names, acl=rules, told=st.booleans())
    def change_rule(self, name: str, acl: AccessRule, told: bool) -> None:
        ok(self.done(self.documents.change_rule(ACME, DocumentId(name), acl, [])))
        if name in self.standing:
            self.set_rule(name, acl, told)

    @rule(gone=st.sets(names, min_size=1, max_size=3))
    def delete(self, gone: set[str]) -> None:
        family = {found for name in gone for found in self.family(name)}
        deleted = ok(self.done(self.documents.delete(ACME, list(map(DocumentId, gone)), [])))
        assert deleted == len(family)
        for name in family:
            self.forget(name)
            del self.standing[name]

    @rule(person=st.sampled_from(PEOPLE), groups=st.frozensets(st.sampled_from(GROUPS)))
    def join(self, person: str, groups: frozenset[str]) -> None:
        self.people[person] = fake_principal(id=person, groups=groups)

    @rule()
    def catch_up(self) -> None:
        for name, found in self.standing.items():
            found.is_indexed = True
            self.tell(name)

    @rule(acl=rules)
    def another_tenant_has_the_same_ids(self, acl: AccessRule) -> None:
        self.version += 1
        document = a_document("d0", acl, version=self.version, tenant=GLOBEX)
        ok(self.done(self.documents.put(document, passages(document), [])))

    @invariant()
    def everybody_sees_exactly_what_the_rules_allow(self) -> None:
        if not hasattr(self, "people"):
            return
        self.check(self.people["p"], [HANDBOOK, TICKETS])
        self.check(self.people["q"], [HANDBOOK])

    @invariant()
    def who_acts_for_another_sees_no_more_than_both_may(self) -> None:
        if not hasattr(self, "people"):
            return
        robot = fake_principal(id="robot", groups=GROUPS[:2], on_behalf_of=self.people["p"])
        scope = self.done(reach(self.compound, robot, [HANDBOOK, TICKETS]))
        readable = ok(self.done(self.documents.readable(map(DocumentId, self.standing), scope)))
        for party in robot.parties():
            assert readable <= set(map(DocumentId, self.allowed(party, [HANDBOOK, TICKETS])))

    def allowed(self, party: Principal, places: list[CorpusId]) -> dict[str, Standing]:
        """Return what the rules let one party read, without a look at any store."""
        return {
            name: found
            for name, found in self.standing.items()
            if found.document.corpus_id in places and found.rule.admits(party.own_tokens())
        }

    def check(self, person: Principal, places: list[CorpusId]) -> None:
        scope = self.done(reach(self.compound, person, places))
        allowed = self.allowed(person, places)
        everything = [DocumentId(name) for name in (*TOP_LEVEL, *PARENTS)]
        readable = ok(self.done(self.documents.readable(everything, scope)))
        assert readable == set(map(DocumentId, allowed))
        asked = everything[self.version % len(everything)]
        got = self.done(self.documents.get(asked, scope))
        assert isinstance(got, Ok) == (str(asked) in allowed)

        passages_allowed = {chunk for found in allowed.values() for chunk in found.chunks}
        proposed = [
            hit.chunk_id
            for place in (HANDBOOK, TICKETS)
            for hit in ok(
                self.done(self.vectors.knn(IndexId(ACME, place), QUESTION, scope.predicate, 1_000))
            )
        ]
        current = {c.id for c in ok(self.done(self.documents.current(proposed, scope)))}
        assert current <= passages_allowed
        if all(found.is_indexed for found in self.standing.values()):
            assert sorted(proposed) == sorted(passages_allowed)
            assert current == passages_allowed

    def family(self, name: str) -> list[str]:
        """Return a document that is there, and all that is attached below it."""
        if name not in self.standing:
            return []
        below = [child for child, parent in PARENTS.items() if parent == name]
        return [name, *(found for child in below for found in self.family(child))]

    def set_rule(self, name: str, acl: AccessRule, told: bool) -> None:
        for member in self.family(name):
            found = self.standing[member]
            found.rule, found.is_indexed = acl, told
            if told:
                self.tell(member)

    def tell(self, name: str) -> None:
        """Bring the index up to date with a document, as the jobs do, unless that is to be late."""
        found = self.standing[name]
        if not found.is_indexed:
            return
        index = IndexId(ACME, found.document.corpus_id)
        chunks = ok(self.done(self.documents.chunks_of(ACME, [found.document.id])))
        ok(self.done(self.vectors.delete(index, [found.document.id])))
        vectors = np.tile(QUESTION, (len(chunks), 1))
        ok(self.done(self.vectors.upsert(index, chunks, vectors)))

    def forget(self, name: str) -> None:
        """Take a document out of both indexes, as the jobs do when it moves or goes."""
        for place in (HANDBOOK, TICKETS):
            ok(self.done(self.vectors.delete(IndexId(ACME, place), [DocumentId(name)])))


@pytest.mark.slow
def test_generated_histories_are_seen_as_the_rules_allow(migrated: Path) -> None:
    class OnThisFile(Histories):
        pass

    OnThisFile.migrated = migrated
    run_state_machine_as_test(
        OnThisFile,
        settings=settings(
            max_examples=20,
            stateful_step_count=25,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
