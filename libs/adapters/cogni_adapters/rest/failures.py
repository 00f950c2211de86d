"""What a source's refusals mean here. Raised below a connector, a value above it."""

from collections.abc import Awaitable
from typing import TypeVar

from cogni_kernel import (
    ConflictError,
    Err,
    Error,
    HumanText,
    InvalidArgumentError,
    NotFoundError,
    NotPermittedError,
    Ok,
    Result,
    UpstreamError,
)

T = TypeVar("T")

AWAY = HumanText("The source does not answer. It is asked again later.")
BUSY = HumanText("The source asks us to wait. It is asked again later.")
BROKEN = HumanText("The source's answer is not what its interface promises. Look at its own log.")
SIGN_IN = HumanText(
    "The source does not accept this service's account. Renew its password or token."
)
FORBIDDEN = HumanText("The source does not let this service's account look there.")
ABSENT = HumanText("The source has no such thing any more.")
EXPIRED = HumanText("The source does not know this place of its list any more.")
REFUSED = HumanText(
    "The source refuses the question. Check its address and version in the settings."
)


class SourceFailedError(Exception):
    """A call did not bring what was asked for; `error` says why."""

    def __init__(self, error: Error) -> None:
        super().__init__(str(error.message))
        self.error = error


def unexpected(what: str) -> SourceFailedError:
    """Return what is raised where an answer lacks what its interface promises: never read as "there is none"."""
    return SourceFailedError(UpstreamError(BROKEN, detail={"unexpected": what[:200]}))


def error_of(status: int) -> Error:
    """Return what a status that is no success means."""
    detail = {"status": status}
    if status == 429:
        return UpstreamError(BUSY, detail=detail)
    if status >= 500:
        return UpstreamError(AWAY, detail=detail)
    plain: dict[int, Error] = {
        400: InvalidArgumentError(REFUSED, detail=detail),
        401: UpstreamError(SIGN_IN, retryable=False, detail=detail),
        403: NotPermittedError(FORBIDDEN, detail=detail),
        404: NotFoundError(ABSENT, detail=detail),
        410: ConflictError(EXPIRED, detail=detail),
    }
    return plain.get(status, UpstreamError(REFUSED, retryable=False, detail=detail))


async def listed(work: Awaitable[T]) -> Result[T]:
    """Return what a listing brings; whatever refuses it, the source did not answer."""
    try:
        return Ok(await work)
    except SourceFailedError as failed:
        error = failed.error
        if isinstance(error, UpstreamError):
            return Err(error)
        return Err(UpstreamError(error.message, retryable=False, detail=error.detail))


async def read(work: Awaitable[T]) -> Result[T]:
    """Return what is read of one document; one that may not be looked at any more is gone for us."""
    try:
        return Ok(await work)
    except SourceFailedError as failed:
        if isinstance(failed.error, NotPermittedError):
            return Err(NotFoundError(failed.error.message, detail=failed.error.detail))
        return Err(failed.error)
