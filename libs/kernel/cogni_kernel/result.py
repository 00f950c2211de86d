"""`Result`: what every fallible call across a layer returns."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeAlias, TypeVar

from cogni_kernel.errors import Error

T_co = TypeVar("T_co", covariant=True)
T = TypeVar("T")
U = TypeVar("U")


@dataclass(frozen=True, slots=True)
class Ok(Generic[T_co]):
    """The call succeeded with `value`."""

    value: T_co

    def map(self, fn: Callable[[T_co], U]) -> "Ok[U]":
        """Return `Ok(fn(value))`."""
        return Ok(fn(self.value))

    def or_else(self, fn: Callable[[Error], object]) -> "Ok[T_co]":  # noqa: ARG002
        """Return self: there is no error to replace."""
        return self


@dataclass(frozen=True, slots=True)
class Err:
    """The call failed with `error`."""

    error: Error

    def map(self, fn: Callable[..., object]) -> "Err":  # noqa: ARG002
        """Return self: there is no value to map."""
        return self

    def or_else(self, fn: "Callable[[Error], Result[T]]") -> "Result[T]":
        """Return `fn(error)`: another value, or another error."""
        return fn(self.error)


Result: TypeAlias = Ok[T] | Err
"""`Ok[T] | Err`; narrow it with `isinstance(x, Err)` or `match`."""
