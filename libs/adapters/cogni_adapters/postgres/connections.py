"""What the adapters of this folder need of a database, and how they keep any text in it."""

from collections.abc import Callable
from typing import Protocol, TypeVar

import sqlalchemy as sa

from cogni_kernel import Result

T = TypeVar("T")


class Transactions(Protocol):
    """A PostgreSQL database; its errors are values. Whoever binds the adapters has one."""

    async def read(self, work: Callable[[sa.Connection], Result[T]]) -> Result[T]:
        """Run `work` in one consistent snapshot."""
        ...

    async def write(
        self, work: Callable[[sa.Connection], Result[T]], then: Callable[[T], None] | None = None
    ) -> Result[T]:
        """Run `work` in one transaction: committed for Ok, rolled back for Err."""
        ...


def kept(text: object) -> bytes:
    """Return a text as it is kept: as bytes, since the server's own text refuses NUL and surrogates."""
    return str(text).encode(errors="surrogatepass")


def read_back(data: bytes) -> str:
    """Return what was given to `kept`."""
    return data.decode(errors="surrogatepass")
