"""Errors as RFC 9457 problem details: the message for the person, and nothing of the inside."""

import math
from collections.abc import Mapping

from starlette.responses import Response

from cogni_domain.access.resolver import NotAuthenticatedError, TenantDisabledError
from cogni_edge.requests import TooLargeError, TooSlowError
from cogni_kernel import (
    BudgetExceededError,
    ConflictError,
    Error,
    ErrorMasker,
    InvalidArgumentError,
    NotFoundError,
    NotPermittedError,
    TimeoutError,
    UpstreamError,
)
from cogni_surfaces import Language, json_line, said

PRIVATE = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
"""Headers of every response: what is said to one person is kept by no cache and taken for nothing else."""

RETRY_AFTER_S = 5

_STATUS: tuple[tuple[type[Error], int], ...] = (
    (NotAuthenticatedError, 401),
    (TenantDisabledError, 403),
    (NotFoundError, 404),
    (NotPermittedError, 404),
    (TooSlowError, 408),
    (ConflictError, 409),
    (TooLargeError, 413),
    (InvalidArgumentError, 422),
    (BudgetExceededError, 429),
    (TimeoutError, 503),
    (UpstreamError, 503),
)


class _Masking:
    """Absent and forbidden are one thing on the wire; who asks, and a disabled tenant, are not masked."""

    def hides_existence(self, error: Error) -> bool:
        return not isinstance(error, NotAuthenticatedError | TenantDisabledError)


def status_of(error: Error) -> int:
    """Return the HTTP status of an error."""
    return next((status for kind, status in _STATUS if isinstance(error, kind)), 500)


def problem(error: Error, language: Language = Language.EN) -> Response:
    """Return an error as a response, in the person's language where the sentence is one of ours."""
    masked = ErrorMasker().mask(error, _Masking())
    extra: dict[str, object] = {}
    if isinstance(error, InvalidArgumentError) and "field" in error.detail:
        extra["field"] = error.detail["field"]
    response = problem_response(status_of(error), said(str(masked.message), language), extra)
    if response.status_code == 401:
        response.headers["WWW-Authenticate"] = "Bearer"
    if response.status_code in (429, 503):
        response.headers["Retry-After"] = str(_seconds(error.detail.get("retry_after_s")))
    return response


def problem_response(
    status: int, message: str, extra: Mapping[str, object] | None = None
) -> Response:
    """Return problem details with the message for the person as their title."""
    body = {"type": "about:blank", "title": message, "status": status, **(extra or {})}
    return Response(json_line(body), status, PRIVATE, media_type="application/problem+json")


def _seconds(wanted: object) -> int:
    return math.ceil(wanted) if isinstance(wanted, int | float) else RETRY_AFTER_S
