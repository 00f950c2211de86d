"""What all tables share: one MetaData, its naming convention, and the column types."""

import json
import re
from datetime import UTC, datetime

import sqlalchemy as sa
from sqlalchemy.engine import Dialect

METADATA = sa.MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
    }
)

_UNSTORABLE = re.compile("[\x00\x01\ud800-\udfff]")
_ESCAPED = re.compile("\x01(\x01|\x02|\x03....)", re.DOTALL)


def escape(text: str) -> str:
    """Return `text` in a form that every database keeps: without NUL and without lone surrogates.

    Different texts stay different, and in the order of their code points as long as no surrogate is among them.

    >>> escape("a\\0b")
    'a\\x01\\x01b'
    """
    if _UNSTORABLE.search(text) is None:
        return text
    return _UNSTORABLE.sub(_escape_one, text)


def unescape(text: str) -> str:
    """Return what was given to `escape`."""
    return _ESCAPED.sub(_unescape_one, text) if "\x01" in text else text


def _escape_one(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\x01{chr(code + 1)}" if code < 2 else f"\x01\x03{code:04x}"


def _unescape_one(match: re.Match[str]) -> str:
    kind = ord(match[1][0])
    return chr(kind - 1) if kind < 3 else chr(int(match[1][1:], 16))


class AnyText(sa.TypeDecorator[str]):
    """Text of any code points, compared by code point in both dialects."""

    impl = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:  # noqa: ARG002
        return None if value is None else escape(value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> str | None:  # noqa: ARG002
        return None if value is None else unescape(value)


_encoded = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


class JsonText(sa.TypeDecorator[object]):
    """JSON as text: PostgreSQL's own type would refuse some of it."""

    impl = sa.Text
    cache_ok = True

    def process_bind_param(self, value: object, dialect: Dialect) -> str:  # noqa: ARG002
        return escape(_encoded(value))

    def process_result_value(self, value: str | None, dialect: Dialect) -> object:  # noqa: ARG002
        return None if value is None else json.loads(unescape(value))


class UtcDateTime(sa.TypeDecorator[datetime]):
    """A moment: aware on both sides, UTC in the database."""

    impl = sa.DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError(f"a moment without a time zone: {value!r}")
        moment = value.astimezone(UTC)
        return moment.replace(tzinfo=None) if dialect.name == "sqlite" else moment

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None or dialect.name != "sqlite":
            return value
        return value.replace(tzinfo=UTC)
