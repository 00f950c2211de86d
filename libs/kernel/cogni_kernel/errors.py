"""The error tree. Errors are values: returned across layers, never raised.

Error
├── NotFoundError          absent, or hidden from this caller
├── NotPermittedError      masked as NotFoundError where existence is sensitive
├── InvalidArgumentError   `model_hint` carries the fix
├── UpstreamError          a dependency failed; retryable unless told otherwise
├── TimeoutError           a deadline passed; retryable unless told otherwise
├── BudgetExceededError    a limit, not a fault
├── ConflictError          somebody else was first
└── DefinitionError        an author's mistake; the one that is also raised, at define time
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol

from cogni_kernel.text import HumanText, ModelFacingText


@dataclass(frozen=True)
class Error:
    """Why a call did not succeed.

    Attributes:
        message: For the person; says what to do next.
        model_hint: For the model; what it should do next.
        retryable: Whether the same call may succeed later. Never true for a mutation.
        detail: For the run record alone; never rendered, never sent over a wire.

    Source:
        COGNI.BUILD spec, package kernel, "Error".
    """

    message: HumanText
    model_hint: ModelFacingText | None = None
    retryable: bool = False
    detail: Mapping[str, object] = field(default_factory=dict, compare=False)

    @property
    def code(self) -> str:
        """The class name without its suffix, for records and metrics: `NotFound`."""
        return type(self).__name__.removesuffix("Error")


class NotFoundError(Error):
    """There is no such thing, as far as this caller may know."""


class NotPermittedError(Error):
    """The caller lacks the authority."""


class InvalidArgumentError(Error):
    """The input is wrong; `model_hint` says how to mend it."""


@dataclass(frozen=True)
class UpstreamError(Error):
    """A dependency did not do its part."""

    retryable: bool = True


@dataclass(frozen=True)
class TimeoutError(Error):  # noqa: A001 - the spec's word; a value, not the builtin exception
    """A deadline passed before the work was done."""

    retryable: bool = True


class BudgetExceededError(Error):
    """A limit was reached; reads as a limit, not as a fault."""


class ConflictError(Error):
    """The state has moved on since the caller looked."""


class DefinitionError(Error, Exception):
    """An extension is wrongly declared. Raised where it is declared, before anything runs.

    >>> raise DefinitionError("the tool needs a do_not_use clause")
    Traceback (most recent call last):
    ...
    cogni_kernel.errors.DefinitionError: the tool needs a do_not_use clause
    """

    def __init__(self, message: str) -> None:
        Error.__init__(self, HumanText(message))
        Exception.__init__(self, message)

    def __reduce__(self) -> tuple[type["DefinitionError"], tuple[str]]:
        return type(self), (str(self.message),)

    def __str__(self) -> str:
        return str(self.message)


class MaskingPolicy(Protocol):
    """What `ErrorMasker` needs to know of the policy above it."""

    def hides_existence(self, error: Error) -> bool:
        """Tell whether this error would reveal that something exists.

        The answer is the same for a NotFoundError and a NotPermittedError, or the two can be told apart.
        """
        ...


NOT_FOUND = HumanText("There is nothing here under that name that you can open.")


class ErrorMasker:
    """Makes absent and forbidden indistinguishable to the caller. The run record keeps the truth."""

    def mask(self, error: Error, policy: MaskingPolicy) -> Error:
        """Return what the caller may see: no detail, and one and the same NotFound where it is due."""
        if isinstance(error, NotFoundError | NotPermittedError) and policy.hides_existence(error):
            return NotFoundError(NOT_FOUND)
        if isinstance(error, DefinitionError):
            return error
        return replace(error, detail={})
