"""The compiled predicate admits exactly what the reference evaluator does."""

from collections.abc import Iterator, Sequence

import pytest
import sqlalchemy as sa
from hypothesis import given
from hypothesis import strategies as st

import cogni_adapters.database.tables  # noqa: F401 - fills METADATA
from cogni_adapters.database.document_rows import document_row
from cogni_adapters.database.document_writes import set_rule
from cogni_adapters.database.predicate_sql import admitted
from cogni_adapters.database.schema import METADATA
from cogni_adapters.database.tables.knowledge import documents
from cogni_domain.access.predicate import All, Eq, NoneOf, OneOf, Overlaps, Predicate, admits
from cogni_domain.access.rule import AccessRule
from cogni_domain.knowledge.corpus import Document
from cogni_kernel import CorpusId, TenantId
from cogni_testing.contracts.knowledge import a_document

PLACES = st.sampled_from(["acme", "globex", "a\x00"])
TOKENS = st.sampled_from(["everyone", "u:1", "g:w/x", "g:w/x\x00", "g:w/'"])
VALUES = st.frozensets(PLACES | TOKENS, max_size=4)
FIELDS = st.sampled_from(["tenant", "corpus", "readers", "colour"])

predicates: st.SearchStrategy[Predicate] = st.recursive(
    st.builds(Eq, FIELDS, PLACES | TOKENS)
    | st.builds(OneOf, FIELDS, VALUES)
    | st.builds(Overlaps, FIELDS, VALUES)
    | st.builds(NoneOf, FIELDS, VALUES),
    lambda parts: st.builds(All, st.lists(parts, max_size=3).map(tuple)),
    max_leaves=5,
)


@st.composite
def document_sets(draw: st.DrawFn) -> list[Document]:
    keys = st.tuples(st.sampled_from(["d1", "d2"]), PLACES)
    return [
        a_document(
            name,
            AccessRule.any_of(*draw(st.frozensets(TOKENS, max_size=3))),
            tenant=TenantId(tenant),
            corpus=CorpusId(draw(PLACES)),
        )
        for name, tenant in draw(st.lists(keys, min_size=1, max_size=5, unique=True))
    ]


@pytest.fixture(scope="module")
def connection() -> Iterator[sa.Connection]:
    engine = sa.create_engine("sqlite://")
    METADATA.create_all(engine)
    with engine.connect() as connection:
        yield connection
    engine.dispose()


def selected(
    connection: sa.Connection, stored: Sequence[Document], predicate: Predicate
) -> set[tuple[str, str]]:
    query = sa.select(documents.c.tenant_id, documents.c.id).where(admitted(predicate))
    with connection.begin() as transaction:
        for document in stored:
            connection.execute(sa.insert(documents), document_row(document, document.rule))
            set_rule(connection, document.tenant_id, [str(document.id)], document.rule)
        found = {(row.tenant_id, row.id) for row in connection.execute(query)}
        transaction.rollback()
    return found


@given(document_sets(), predicates)
def test_a_predicate_in_sql_admits_what_the_reference_admits(
    connection: sa.Connection, stored: Sequence[Document], predicate: Predicate
) -> None:
    expected = {(str(d.tenant_id), str(d.id)) for d in stored if admits(predicate, d.labels())}

    assert selected(connection, stored, predicate) == expected


def test_a_predicate_without_parts_admits_nothing(connection: sa.Connection) -> None:
    assert selected(connection, [a_document()], All(())) == set()
