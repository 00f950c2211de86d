"""DokuWiki's remote interface: one call, one answer, and no error that looks like an empty list."""

import xmlrpc.client
from xml.parsers.expat import ExpatError

from cogni_adapters.rest.client import RestClient
from cogni_adapters.rest.failures import SourceFailedError, unexpected
from cogni_kernel import (
    Error,
    HumanText,
    NotFoundError,
    NotPermittedError,
    UpstreamError,
)

PATH = "/lib/exe/xmlrpc.php"
DENIED = frozenset({111, 112, 113, 114, 115, -32604})
NO_PAGE = frozenset({121, 221})


class DokuWikiCalls:
    """The calls of one wiki.

    Args:
        client: Signs in as the account that crawls, which sees everything.
    """

    def __init__(self, client: RestClient) -> None:
        self.client = client

    async def call(self, method: str, *arguments: object) -> object:
        """Return what a method answers.

        Raises:
            SourceFailedError: It was refused or failed, or the answer is none.
        """
        body = xmlrpc.client.dumps(tuple(arguments), method, allow_none=True).encode()  # type: ignore[arg-type]
        answer = await self.client.call(PATH, body, "text/xml")
        return _value(answer)


def _value(answer: bytes) -> object:
    if b"<!DOCTYPE" in answer or b"<!ENTITY" in answer:
        raise unexpected("an answer that declares entities")
    try:
        values, _ = xmlrpc.client.loads(answer)
    except xmlrpc.client.Fault as fault:
        raise SourceFailedError(_error_of(fault)) from fault
    except (ExpatError, ValueError, TypeError, IndexError, xmlrpc.client.Error) as failure:
        raise unexpected("no answer in this form") from failure
    found: object = values[0] if len(values) == 1 else None
    if found == {}:
        raise unexpected("an empty answer, which this wiki gives for failures too")
    return found


def _error_of(fault: xmlrpc.client.Fault) -> Error:
    detail = {"fault": fault.faultCode}
    if fault.faultCode in DENIED:
        return NotPermittedError(
            HumanText("The wiki does not let this account do that."), detail=detail
        )
    if fault.faultCode in NO_PAGE:
        return NotFoundError(HumanText("The page is gone."), detail=detail)
    message = "The wiki could not answer. Look at its own log."
    return UpstreamError(HumanText(message), detail=detail)
