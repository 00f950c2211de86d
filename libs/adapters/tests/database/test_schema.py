from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone

import pytest
import sqlalchemy as sa
from hypothesis import example, given
from hypothesis import strategies as st
from sqlalchemy.dialects.postgresql.base import PGDialect
from sqlalchemy.dialects.sqlite.base import SQLiteDialect

from cogni_adapters.database.engine import Database
from cogni_adapters.database.schema import AnyText, JsonText, UtcDateTime, escape, unescape
from cogni_kernel import Ok
from cogni_testing.assertions import ok

SQLITE = SQLiteDialect()
POSTGRESQL = PGDialect()  # type: ignore[no-untyped-call]

any_text = st.text(st.characters(exclude_categories=()), max_size=8) | st.text(
    st.sampled_from("\x00\x01\x02\x03a\ud83d\udfff\U0001f600"), max_size=8
)
no_surrogates = st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from("\x00\x01\x02"))


@given(any_text)
@example("\x01\x03d83d")
@example("\x01\x01")
def test_escaped_text_comes_back(text: str) -> None:
    assert unescape(escape(text)) == text


@given(any_text)
def test_every_database_keeps_escaped_text(text: str) -> None:
    kept = escape(text)

    assert "\x00" not in kept
    assert kept.encode().decode() == kept


@given(no_surrogates, no_surrogates)
def test_escaping_keeps_the_order_of_code_points(one: str, other: str) -> None:
    assert (escape(one) < escape(other)) == (one < other)


@given(no_surrogates.filter(lambda text: not set(text) & {"\x00", "\x01"}))
def test_ordinary_text_is_kept_as_it_is(text: str) -> None:
    assert escape(text) == text


@given(st.recursive(st.none() | st.booleans() | st.integers() | any_text, st.lists))
@example("\ud83d\ude00")
@example(["\x00", "\x01\x01"])
def test_json_comes_back(value: object) -> None:
    kept = JsonText().process_bind_param(value, SQLITE)

    assert "\x00" not in kept
    assert kept.encode()
    assert JsonText().process_result_value(kept, SQLITE) == value


def test_text_is_compared_by_code_point_in_both_dialects() -> None:
    columns = [AnyText().compile(dialect=dialect) for dialect in (SQLITE, POSTGRESQL)]

    assert columns == ["TEXT", 'TEXT COLLATE "C"']


def test_a_moment_without_a_time_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="without a time zone"):
        UtcDateTime().process_bind_param(datetime(2026, 3, 2), SQLITE)  # noqa: DTZ001


@pytest.mark.parametrize("hours", [-11, 0, 5])
async def test_a_moment_comes_back_in_utc(
    open_database: Callable[[], Database], hours: int
) -> None:
    moment = datetime(2026, 3, 2, 0, 30, 0, 17, timezone(timedelta(hours=hours)))
    query = sa.select(sa.bindparam("moment", moment, UtcDateTime))

    found = ok(await open_database().read(lambda connection: Ok(connection.scalar(query))))

    assert found == moment
    assert found is not None
    assert found.tzinfo is UTC
