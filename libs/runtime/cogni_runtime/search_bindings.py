"""Which adapters search. With `bindings`, the only module that imports adapters."""

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from cogni_domain.ports.keyword_search import KeywordSearchPort
from cogni_domain.ports.vector_store import VectorStorePort
from cogni_runtime.container import Container
from cogni_runtime.search_choice import TermsIn, VectorsIn, chosen_search

if TYPE_CHECKING:
    from cogni_adapters.database.engine import Database

Close: TypeAlias = Callable[[], Awaitable[None]]


def bind_search(
    container: Container, database: object, data: Path, environment: Mapping[str, str]
) -> Close:
    """Bind the vector store and the keyword search that the environment names; return what closes them.

    Args:
        database: The `Database` of the adapters.
        data: The folder of what is kept in the process.

    Raises:
        DefinitionError: See `search_choice.chosen_search`.
    """
    from cogni_adapters.database.engine import Database

    assert isinstance(database, Database)
    is_postgresql = database.engine.dialect.name == "postgresql"
    choice = chosen_search(environment, is_postgresql=is_postgresql)
    closing = [
        *_bind_vectors(container, choice.vectors, database, environment),
        *_bind_terms(container, choice.terms, database, data, environment),
    ]

    async def close() -> None:
        for let_go in closing:
            await let_go()

    return close


def _bind_vectors(
    container: Container, store: VectorsIn, database: "Database", environment: Mapping[str, str]
) -> list[Close]:
    match store:
        case VectorsIn.DATABASE:
            from cogni_adapters.database.vector_store import DatabaseVectorStoreAdapter

            container.bind(VectorStorePort, DatabaseVectorStoreAdapter(database))
        case VectorsIn.PGVECTOR:
            from cogni_adapters.postgres.vector_store import PgVectorStoreAdapter

            container.bind(VectorStorePort, PgVectorStoreAdapter(database))
        case VectorsIn.QDRANT:
            from cogni_adapters.qdrant.vector_store import QdrantVectorStoreAdapter, open_client

            qdrant = open_client(environment["QDRANT_URL"], environment.get("QDRANT_API_KEY"))
            container.bind(VectorStorePort, QdrantVectorStoreAdapter(qdrant))
            return [qdrant.close]
        case VectorsIn.OPENSEARCH:
            from cogni_adapters.opensearch.client import OpenSearchClient
            from cogni_adapters.opensearch.vector_store import OpenSearchVectorStoreAdapter

            vectors = OpenSearchClient(environment["OPENSEARCH_URL"])
            container.bind(VectorStorePort, OpenSearchVectorStoreAdapter(vectors))
            return [vectors.close]
    return []


def _bind_terms(
    container: Container,
    store: TermsIn,
    database: "Database",
    data: Path,
    environment: Mapping[str, str],
) -> list[Close]:
    match store:
        case TermsIn.TANTIVY:
            from cogni_adapters.tantivy.keyword_search import TantivyKeywordSearchAdapter

            tantivy = TantivyKeywordSearchAdapter(data / "keywords")
            container.bind(KeywordSearchPort, tantivy)
            return [tantivy.close]
        case TermsIn.POSTGRES:
            from cogni_adapters.postgres.keyword_search import PostgresKeywordSearchAdapter

            container.bind(KeywordSearchPort, PostgresKeywordSearchAdapter(database))
        case TermsIn.OPENSEARCH:
            from cogni_adapters.opensearch.client import OpenSearchClient
            from cogni_adapters.opensearch.keyword_search import OpenSearchKeywordSearchAdapter

            terms = OpenSearchClient(environment["OPENSEARCH_URL"])
            container.bind(KeywordSearchPort, OpenSearchKeywordSearchAdapter(terms))
            return [terms.close]
    return []
