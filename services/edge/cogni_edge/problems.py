"""Errors as RFC 9457 problem details: the message for the person, and nothing of the inside."""

import json
from collections.abc import Mapping

from starlette.responses import Response

from cogni_domain.access.resolver import NotAuthenticatedError, TenantDisabledError
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

_STATUS: tuple[tuple[type[Error], int], ...] = (
    (NotAuthenticatedError, 401),
    (TenantDisabledError, 403),
    (NotFoundError, 404),
    (NotPermittedError, 404),
    (ConflictError, 409),
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


def problem(error: Error) -> Response:
    """Return an error as a response."""
    masked = ErrorMasker().mask(error, _Masking())
    extra: dict[str, object] = {}
    if isinstance(error, InvalidArgumentError) and "field" in error.detail:
        extra["field"] = error.detail["field"]
    response = problem_response(status_of(error), str(masked.message), extra)
    if response.status_code == 401:
        response.headers["WWW-Authenticate"] = "Bearer"
    if response.status_code in (429, 503):
        response.headers["Retry-After"] = str(error.detail.get("retry_after_s", 5))
    return response


def problem_response(
    status: int, message: str, extra: Mapping[str, object] | None = None
) -> Response:
    """Return problem details with the message for the person as their title."""
    body = {"type": "about:blank", "title": message, "status": status, **(extra or {})}
    return Response(
        json.dumps(body, ensure_ascii=False), status, media_type="application/problem+json"
    )
