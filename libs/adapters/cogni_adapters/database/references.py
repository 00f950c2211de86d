"""What channels showed, in rows: it outlives the page, the turn and the process."""

from typing import TypeVar

import sqlalchemy as sa

from cogni_adapters.database.engine import Database
from cogni_adapters.database.inserting import insert_if_new
from cogni_adapters.database.prepared import fetch, fetch_one, inserting, write
from cogni_adapters.database.renderables import renderable
from cogni_adapters.database.tables.work import kept_references, reference_buckets
from cogni_engine import (
    MAX_PER_BUCKET,
    ChannelKey,
    Marker,
    Missing,
    ReferenceStore,
    Renderable,
)
from cogni_kernel import Err, Ok, Result

T = TypeVar("T")


_COUNT_ON = (
    sa.update(reference_buckets)
    .where(reference_buckets.c.channel == sa.bindparam("channel"))
    .where(reference_buckets.c.kind == sa.bindparam("kind"))
    .values(issued=reference_buckets.c.issued + 1)
    .returning(reference_buckets.c.issued)
)
_TOO_MANY = (
    sa.select(kept_references.c.number)
    .where(kept_references.c.channel == sa.bindparam("channel"))
    .where(kept_references.c.kind == sa.bindparam("kind"))
    .where(~kept_references.c.pinned)
    .order_by(kept_references.c.number.desc())
    .offset(MAX_PER_BUCKET)
)


class DatabaseReferenceStoreAdapter(ReferenceStore):
    """Keeps the engine's own renderables.

    Raises:
        ValueError: `put` was given another renderable, which could not be read back.
        OSError: The database did not answer; the engine's port has no `Result` to say so.

    Source:
        COGNI.BUILD spec, package channel, "ReferenceStore".
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def put(self, channel: ChannelKey, payload: Renderable) -> Marker:
        plain = payload.to_payload()
        if renderable(payload.kind, plain) != payload:
            raise ValueError(f"cannot be kept: {type(payload).__name__}")

        def keep(connection: sa.Connection) -> Result[Marker]:
            bucket = {"channel": channel.value, "kind": payload.kind.value}
            number = _next_number(connection, bucket)
            row = {**bucket, "number": number, "payload": plain, "pinned": False}
            write(connection, inserting(kept_references), row)
            _evict(connection, bucket)
            return Ok(Marker(payload.kind, f"{payload.kind.value}{number}"))

        return _or_raise(await self._database.write(keep))

    async def get(self, channel: ChannelKey, marker: Marker) -> Renderable | Missing:
        def find(connection: sa.Connection) -> Result[Renderable | Missing]:
            row = connection.execute(
                sa.select(kept_references.c.payload).where(_is(channel, marker))
            ).first()
            if row is not None:
                return Ok(renderable(marker.kind, row.payload))
            issued = connection.scalar(
                sa.select(reference_buckets.c.issued).where(
                    reference_buckets.c.channel == channel.value,
                    reference_buckets.c.kind == marker.kind.value,
                )
            )
            was_issued = _number(marker) <= (issued or 0)
            return Ok(Missing.EVICTED if was_issued else Missing.NEVER_ISSUED)

        return _or_raise(await self._database.read(find))

    async def pin(self, channel: ChannelKey, markers: tuple[Marker, ...]) -> None:
        def hold(connection: sa.Connection) -> Result[None]:
            for marker in markers:
                connection.execute(
                    sa.update(kept_references).where(_is(channel, marker)).values(pinned=True)
                )
            return Ok(None)

        return _or_raise(await self._database.write(hold))


def _next_number(connection: sa.Connection, bucket: dict[str, str]) -> int:
    """Count the bucket on, which keeps others waiting until this one is kept."""
    insert_if_new(connection, reference_buckets, {**bucket, "issued": 0})
    number: int = fetch_one(connection, _COUNT_ON, **bucket).issued
    return number


def _evict(connection: sa.Connection, bucket: dict[str, str]) -> None:
    """Remove what nothing pins, but for the newest."""
    for row in fetch(connection, _TOO_MANY, **bucket):
        connection.execute(sa.delete(kept_references).filter_by(**bucket, number=row.number))


def _is(channel: ChannelKey, marker: Marker) -> sa.ColumnElement[bool]:
    return (
        (kept_references.c.channel == channel.value)
        & (kept_references.c.kind == marker.kind.value)
        & (kept_references.c.number == _number(marker))
    )


def _number(marker: Marker) -> int:
    return int(marker.ref.removeprefix(marker.kind.value))


def _or_raise(result: Result[T]) -> T:
    if isinstance(result, Err):
        raise OSError(str(result.error.message))
    return result.value
