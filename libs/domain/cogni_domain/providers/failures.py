"""What a provider's failures mean here. Their detail holds no text of the request."""

from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from cogni_engine import ChunkParser
from cogni_kernel import Error, HumanText, TimeoutError, UpstreamError

AWAY = HumanText("The language model can't be reached right now. Please try again in a minute.")
BUSY = HumanText("The language model is busy right now. Please try again in a minute.")
LATE = HumanText("The language model took too long to answer. Please try again.")
REFUSED = HumanText(
    "The language model did not take this request. An administrator has to look at it."
)
USED_UP = HumanText(
    "The language model's allowance is used up. An administrator has to look at it."
)
CUT = HumanText("The answer broke off before it was finished. Please ask again.")
TOO_LONG = HumanText("The answer grew too long and was cut off. Please ask for a part of it.")
WITHHELD = HumanText(
    "The language model's provider withheld the answer. Please ask in other words."
)

_BUSY = frozenset({429, 529})
_RETRYABLE = frozenset({408, 409, 425, *_BUSY})
_USED_UP = frozenset({"insufficient_quota", "billing_hard_limit_reached", "billing_error"})
_BUSY_CODES = frozenset({"overloaded_error", "rate_limit_error", "rate_limit_exceeded"})
_REFUSED_CODES = frozenset(
    {
        "authentication_error",
        "data_residency_mismatch",
        "invalid_prompt",
        "invalid_request_error",
        "not_found_error",
        "permission_error",
        "request_too_large",
    }
)


def away(failure: Exception) -> UpstreamError:
    """Return what a call is told as that found no provider."""
    return UpstreamError(AWAY, detail={"failure": type(failure).__name__})


def late(failure: Exception) -> TimeoutError:
    """Return what a call is told as that the provider did not answer in time."""
    return TimeoutError(LATE, detail={"failure": type(failure).__name__})


def refused(status: int, code: str, headers: Mapping[str, str]) -> UpstreamError:
    """Return what a refusal is told as; `detail["retry_after_s"]` where it says when to come back."""
    detail: dict[str, object] = {"status": status, "code": code[:100]}
    wait_s = retry_after_s(headers, datetime.now(UTC))
    if wait_s is not None:
        detail["retry_after_s"] = wait_s
    if code in _USED_UP:
        return UpstreamError(USED_UP, retryable=False, detail=detail)
    if status in _BUSY:
        return UpstreamError(BUSY, detail=detail)
    if status in _RETRYABLE or status >= 500:
        return UpstreamError(AWAY, detail=detail)
    return UpstreamError(REFUSED, retryable=False, detail=detail)


def in_stream(error: Mapping[str, object]) -> UpstreamError:
    """Return what an error in the middle of a stream is told as; an unknown one may be worth another call."""
    code = str(error.get("code") or error.get("type"))[:100]
    detail = {"code": code}
    if code in _USED_UP:
        return UpstreamError(USED_UP, retryable=False, detail=detail)
    if code in _REFUSED_CODES:
        return UpstreamError(REFUSED, retryable=False, detail=detail)
    return UpstreamError(BUSY if code in _BUSY_CODES else AWAY, detail=detail)


def not_an_answer(parser: ChunkParser) -> Error | None:
    """Return why a stream that ended is no answer; None where it is one."""
    detail = {"finish_reason": parser.finish_reason, "problems": tuple(parser.problems)}
    if parser.error is not None:
        return in_stream(parser.error)
    if parser.finish_reason == "length":
        return UpstreamError(TOO_LONG, retryable=False, detail=detail)
    if parser.finish_reason == "content_filter":
        return UpstreamError(WITHHELD, retryable=False, detail=detail)
    if not parser.is_whole or parser.is_doubtful:
        return UpstreamError(CUT, detail=detail)
    return None


def retry_after_s(headers: Mapping[str, str], now: datetime) -> float | None:
    """Return how long the provider asks to wait, in seconds; None where it does not say so in a known form."""
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        written = headers.get(name, "")
        try:
            wait_s = float(written) / unit
        except ValueError:
            continue
        return wait_s if 0 <= wait_s < float("inf") else None
    try:
        moment = parsedate_to_datetime(headers.get("retry-after", ""))
    except ValueError:
        return None
    return max(0.0, (moment.replace(tzinfo=moment.tzinfo or UTC) - now).total_seconds())
