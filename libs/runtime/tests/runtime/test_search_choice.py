from collections.abc import Mapping
from pathlib import Path

import pytest

from cogni_adapters.database.engine import Database
from cogni_domain.ports.keyword_search import KeywordSearchPort
from cogni_domain.ports.vector_store import VectorStorePort
from cogni_kernel import DefinitionError
from cogni_runtime.container import Container
from cogni_runtime.search_bindings import bind_search
from cogni_runtime.search_choice import SearchChoice, TermsIn, VectorsIn, chosen_search

QDRANT = {"QDRANT_URL": "http://127.0.0.1:1"}
OPENSEARCH = {"OPENSEARCH_URL": "http://127.0.0.1:1"}


@pytest.mark.parametrize(
    ("environment", "is_postgresql", "vectors", "terms"),
    [
        ({}, False, VectorsIn.DATABASE, TermsIn.TANTIVY),
        ({"QDRANT_URL": "", "COGNI_TERMS": ""}, False, VectorsIn.DATABASE, TermsIn.TANTIVY),
        ({}, True, VectorsIn.PGVECTOR, TermsIn.POSTGRES),
        (QDRANT | OPENSEARCH, False, VectorsIn.QDRANT, TermsIn.OPENSEARCH),
        (QDRANT | OPENSEARCH, True, VectorsIn.QDRANT, TermsIn.OPENSEARCH),
        (
            OPENSEARCH | {"COGNI_VECTORS": "opensearch"},
            True,
            VectorsIn.OPENSEARCH,
            TermsIn.OPENSEARCH,
        ),
        (QDRANT | {"COGNI_VECTORS": "pgvector"}, True, VectorsIn.PGVECTOR, TermsIn.POSTGRES),
        (OPENSEARCH | {"COGNI_TERMS": "tantivy"}, True, VectorsIn.PGVECTOR, TermsIn.TANTIVY),
    ],
)
def test_an_address_chooses_and_a_name_decides(
    environment: Mapping[str, str], is_postgresql: bool, vectors: VectorsIn, terms: TermsIn
) -> None:
    found = chosen_search(environment, is_postgresql=is_postgresql)

    assert found == SearchChoice(vectors, terms)


@pytest.mark.parametrize(
    ("environment", "said"),
    [
        (
            {"COGNI_VECTORS": "faiss"},
            "COGNI_VECTORS is one of database, pgvector, qdrant, opensearch",
        ),
        ({"COGNI_TERMS": "qdrant"}, "COGNI_TERMS is one of tantivy, postgres, opensearch"),
        ({"COGNI_VECTORS": "qdrant"}, "qdrant needs QDRANT_URL"),
        ({"COGNI_VECTORS": "opensearch"}, "opensearch needs OPENSEARCH_URL"),
        ({"COGNI_TERMS": "opensearch"}, "opensearch needs OPENSEARCH_URL"),
        ({"COGNI_VECTORS": "pgvector"}, "pgvector needs a PostgreSQL database"),
        ({"COGNI_TERMS": "postgres"}, "postgres needs a PostgreSQL database"),
    ],
)
def test_what_cannot_be_bound_is_refused_by_name(environment: Mapping[str, str], said: str) -> None:
    with pytest.raises(DefinitionError, match=said):
        chosen_search(environment, is_postgresql=False)


@pytest.mark.parametrize(
    ("url", "environment", "vectors", "terms"),
    [
        (
            "sqlite:///{folder}/cogni.db",
            {},
            "DatabaseVectorStoreAdapter",
            "TantivyKeywordSearchAdapter",
        ),
        (
            "sqlite:///{folder}/cogni.db",
            QDRANT | OPENSEARCH,
            "QdrantVectorStoreAdapter",
            "OpenSearchKeywordSearchAdapter",
        ),
        (
            "sqlite:///{folder}/cogni.db",
            OPENSEARCH | {"COGNI_VECTORS": "opensearch"},
            "OpenSearchVectorStoreAdapter",
            "OpenSearchKeywordSearchAdapter",
        ),
        (
            "postgresql+psycopg://127.0.0.1:1/none",
            {},
            "PgVectorStoreAdapter",
            "PostgresKeywordSearchAdapter",
        ),
    ],
)
async def test_a_store_is_bound_before_it_is_asked_for_anything(
    tmp_path: Path, url: str, environment: Mapping[str, str], vectors: str, terms: str
) -> None:
    database, container = Database(url.format(folder=tmp_path)), Container()

    close = bind_search(container, database, tmp_path, environment)

    assert type(container.resolve(VectorStorePort)).__name__ == vectors
    assert type(container.resolve(KeywordSearchPort)).__name__ == terms
    await close()
    await database.close()
