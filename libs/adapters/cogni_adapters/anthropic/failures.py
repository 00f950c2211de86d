"""What the failures of Anthropic's client mean here."""

import anthropic
import httpx2

from cogni_domain.providers.failures import away, late, refused
from cogni_kernel import Error


def described(failure: Exception) -> Error:
    """Return what a failed call is told as."""
    if isinstance(failure, anthropic.APIStatusError):
        return refused(failure.status_code, failure.type or "", failure.response.headers)
    if isinstance(failure, anthropic.APITimeoutError | httpx2.TimeoutException):
        return late(failure)
    return away(failure)
