"""What a provider's failures mean here, and how it has been lately."""

from collections import deque
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import httpx2
import openai

from cogni_engine import HealthState
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

_BUSY = 429
_RETRYABLE = frozenset({408, 409, 425, _BUSY})
_USED_UP = frozenset({"insufficient_quota", "billing_hard_limit_reached"})


def described(failure: Exception) -> Error:
    """Return what a failed call is told as; its detail holds no text of the request."""
    if isinstance(failure, openai.APIStatusError):
        return _status(failure)
    if isinstance(failure, openai.APITimeoutError | httpx2.TimeoutException):
        return TimeoutError(LATE, detail={"failure": type(failure).__name__})
    return UpstreamError(AWAY, detail={"failure": type(failure).__name__})


def in_stream(error: Mapping[str, object]) -> Error:
    """Return what an error in the middle of a stream is told as; it may be worth another call."""
    code = error.get("code") or error.get("type")
    return UpstreamError(AWAY, detail={"code": str(code)[:100]})


def _status(failure: openai.APIStatusError) -> Error:
    status, code = failure.status_code, str(failure.code or failure.type or "")[:100]
    detail: dict[str, object] = {"status": status, "code": code}
    wait_s = retry_after_s(failure.response.headers, datetime.now(UTC))
    if wait_s is not None:
        detail["retry_after_s"] = wait_s
    if code in _USED_UP:
        return UpstreamError(USED_UP, retryable=False, detail=detail)
    if status == _BUSY:
        return UpstreamError(BUSY, detail=detail)
    if status in _RETRYABLE or status >= 500:
        return UpstreamError(AWAY, detail=detail)
    return UpstreamError(REFUSED, retryable=False, detail=detail)


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


class RecentCalls:
    """How the last ten calls went: DOWN after three failures in a row, DEGRADED while any is remembered."""

    def __init__(self) -> None:
        self._went_well: deque[bool] = deque(maxlen=10)

    def note(self, *, went_well: bool) -> None:
        """Remember one call."""
        self._went_well.append(went_well)

    def health(self) -> HealthState:
        """Return what the calls say of the provider."""
        last = list(self._went_well)
        if len(last) >= 3 and not any(last[-3:]):
            return HealthState.DOWN
        return HealthState.HEALTHY if all(last) else HealthState.DEGRADED
