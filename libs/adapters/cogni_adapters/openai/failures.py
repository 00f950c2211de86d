"""What the failures of OpenAI's client mean here."""

import httpx2
import openai

from cogni_domain.providers.failures import away, late, refused
from cogni_kernel import Error


def described(failure: Exception) -> Error:
    """Return what a failed call is told as."""
    if isinstance(failure, openai.APIStatusError):
        code = str(failure.code or failure.type or "")
        return refused(failure.status_code, code, failure.response.headers)
    if isinstance(failure, openai.APITimeoutError | httpx2.TimeoutException):
        return late(failure) if _ran_out_of_time(failure) else away(failure)
    return away(failure)


def _ran_out_of_time(failure: BaseException) -> bool:
    """Tell a timeout from a connection that was refused or closed: the transport names them alike."""
    causes = failure.__cause__ or failure.__context__
    return isinstance(failure, TimeoutError) or (causes is not None and _ran_out_of_time(causes))
