"""The tables of one index: a partition is tables of its own, made with its first passage.

Source:
    DESIGN D9; docs/adr/0019-search-in-postgresql.md.
"""

from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256

import sqlalchemy as sa
from sqlalchemy.types import UserDefinedType

from cogni_domain.knowledge.corpus import IndexId
from cogni_domain.knowledge.partition_names import partition_name

SCHEMA = "search"
"""The schema of PostgreSQL that `cogni migrate` makes for the tables of indexes."""


class Vector(UserDefinedType[str]):
    """pgvector's type, handed over as its text: `[0.5,0.25]`."""

    cache_ok = True

    def __init__(self, dimension: int = 0) -> None:
        self.dimension = dimension

    def get_col_spec(self, **_: object) -> str:
        return f"vector({self.dimension})" if self.dimension else "vector"


@dataclass(frozen=True, slots=True)
class Partition:
    """The tables of an index in one of the two stores.

    Attributes:
        rows: A passage each; `class` names its set of readers.
        readers: Which token is in which class; a class has one row a token. A class is never changed.
    """

    rows: sa.Table
    readers: sa.Table

    def lock(self, connection: sa.Connection) -> None:
        """Let other writers to this index wait until the end of the transaction."""
        key = int.from_bytes(sha256(self.rows.name.encode()).digest()[:8], "big", signed=True)
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(key)))

    def create(self, connection: sa.Connection) -> None:
        """Make the tables, where they are not there yet."""
        self.rows.metadata.create_all(connection)

    def exists(self, connection: sa.Connection) -> bool:
        """Tell whether anything was ever written to the index."""
        name = f"{SCHEMA}.{self.rows.name}"
        return connection.scalar(sa.select(sa.func.to_regclass(name))) is not None


@dataclass(frozen=True, slots=True)
class KeywordPartition(Partition):
    """The same with `words`: which passage holds which term, and at which level."""

    words: sa.Table


@lru_cache(maxsize=4096)
def vector_partition(index: IndexId, dimension: int) -> Partition:
    """Return the tables of an index of vectors of one length; of 0 where the length does not matter."""
    name, metadata = partition_name(index), sa.MetaData(schema=SCHEMA)
    rows = sa.Table(
        f"v_{name}",
        metadata,
        *_passage_columns(f"v_{name}"),
        sa.Column("chunk", sa.LargeBinary, primary_key=True),
        sa.Column("embedding", Vector(dimension), nullable=False),
    )
    return Partition(rows, _readers(f"vr_{name}", metadata))


@lru_cache(maxsize=4096)
def keyword_partition(index: IndexId) -> KeywordPartition:
    """Return the tables of an index of terms."""
    name, metadata = partition_name(index), sa.MetaData(schema=SCHEMA)
    rows = sa.Table(
        f"k_{name}",
        metadata,
        *_passage_columns(f"k_{name}"),
        sa.Column("row", sa.Integer, sa.Identity(), primary_key=True),
        sa.Column("chunk", sa.LargeBinary, nullable=False),
        sa.Column("tie", sa.BigInteger, nullable=False),
        sa.Column("terms", sa.ARRAY(sa.BigInteger), nullable=False),
    )
    words = sa.Table(
        f"kw_{name}",
        metadata,
        sa.Column("term", sa.BigInteger, nullable=False),
        sa.Column("row", sa.Integer, nullable=False),
        sa.Column("level", sa.SmallInteger, nullable=False),
        sa.Index(f"kw_{name}_term", "term", "row", postgresql_include=["level"], unique=True),
    )
    return KeywordPartition(rows, _readers(f"kr_{name}", metadata), words)


def _passage_columns(table: str) -> list[sa.schema.SchemaItem]:
    return [
        sa.Column("document", sa.LargeBinary, nullable=False),
        sa.Column("class", sa.Integer, nullable=False),
        sa.Index(f"{table}_document", "document"),
        sa.Index(f"{table}_class", "class"),
    ]


def _readers(name: str, metadata: sa.MetaData) -> sa.Table:
    return sa.Table(
        name,
        metadata,
        sa.Column("token", sa.LargeBinary, primary_key=True),
        sa.Column("class", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("size", sa.Integer, nullable=False),
    )
