"""Which stores the environment names for vectors and for terms."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import TypeVar

from cogni_kernel import DefinitionError

Store = TypeVar("Store", bound=Enum)


class VectorsIn(Enum):
    """Where vectors are kept; the value is what a person writes and reads."""

    DATABASE = "database"
    PGVECTOR = "pgvector"
    QDRANT = "qdrant"
    OPENSEARCH = "opensearch"


class TermsIn(Enum):
    """Where terms are kept."""

    TANTIVY = "tantivy"
    POSTGRES = "postgres"
    OPENSEARCH = "opensearch"


@dataclass(frozen=True, slots=True)
class SearchChoice:
    """Where both are kept."""

    vectors: VectorsIn
    terms: TermsIn


def chosen_search(environment: Mapping[str, str], *, is_postgresql: bool) -> SearchChoice:
    """Return the stores that the environment names.

    An address chooses: QDRANT_URL for vectors, OPENSEARCH_URL for terms. Without one, both are in the database where
    it is PostgreSQL, else in the process. COGNI_VECTORS and COGNI_TERMS name another.

    Raises:
        DefinitionError: A store is not known, or has no address here; says what to do.
    """
    has_qdrant, has_opensearch = bool(environment.get("QDRANT_URL")), _has_opensearch(environment)
    vectors = VectorsIn.PGVECTOR if is_postgresql else VectorsIn.DATABASE
    terms = TermsIn.POSTGRES if is_postgresql else TermsIn.TANTIVY
    vectors = VectorsIn.QDRANT if has_qdrant else vectors
    terms = TermsIn.OPENSEARCH if has_opensearch else terms
    choice = SearchChoice(
        _named(environment, "COGNI_VECTORS", vectors), _named(environment, "COGNI_TERMS", terms)
    )
    for store, variable, is_there in (
        (VectorsIn.QDRANT, "QDRANT_URL", has_qdrant),
        (VectorsIn.OPENSEARCH, "OPENSEARCH_URL", has_opensearch),
        (TermsIn.OPENSEARCH, "OPENSEARCH_URL", has_opensearch),
        (VectorsIn.PGVECTOR, "a PostgreSQL database", is_postgresql),
        (TermsIn.POSTGRES, "a PostgreSQL database", is_postgresql),
    ):
        if store in (choice.vectors, choice.terms) and not is_there:
            raise DefinitionError(f"{store.value} needs {variable}")
    return choice


def _has_opensearch(environment: Mapping[str, str]) -> bool:
    return bool(environment.get("OPENSEARCH_URL"))


def _named(environment: Mapping[str, str], variable: str, otherwise: Store) -> Store:
    name = environment.get(variable)
    if not name:
        return otherwise
    known = type(otherwise)
    try:
        return known(name)
    except ValueError:
        names = ", ".join(str(store.value) for store in known)
        raise DefinitionError(f"{variable} is one of {names}, not {name}") from None
