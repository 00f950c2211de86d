"""Running what was accepted: prepared before anything happens, then called once."""

import asyncio
import json
import logging
from dataclasses import dataclass
from datetime import timedelta

from cogni_domain.access.tool_offer import ToolContext
from cogni_domain.proposals import ProposalState
from cogni_engine import Arguments, Base, ToolResult, parse_arguments
from cogni_kernel import Err, Error, HumanText, Result, TimeoutError, UpstreamError

EXECUTION_LIMIT = timedelta(seconds=60)

BROKEN = HumanText("This change could not be made. Nothing has happened.")
NOT_KNOWN = "It is not known whether this happened. Please check."
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Execution:
    """A tool, and what it is called with."""

    tool: Base
    args: Arguments

    async def run(self) -> tuple[ProposalState, str]:
        """Call the tool; return how that ended, and what the person is told.

        What was cut off or broke in the middle may have happened: UNKNOWN, which nothing retries.
        """
        try:
            async with asyncio.timeout(EXECUTION_LIMIT.total_seconds()):
                result = await self.tool.call(self.args)
        except Exception:
            _log.exception("%s failed in the middle", type(self.tool).__name__)
            return ProposalState.UNKNOWN, NOT_KNOWN
        match result:
            case ToolResult():
                return ProposalState.EXECUTED, _note(result)
            case Error() if not isinstance(result, TimeoutError):
                return ProposalState.FAILED, str(result.message)
            case _:
                return ProposalState.UNKNOWN, NOT_KNOWN


def prepared(tool: type[Base], context: ToolContext, arguments: str) -> Result[Execution]:
    """Build the tool and parse its arguments; an author's bug in that comes before anything has happened."""
    try:
        parsed = parse_arguments(arguments, tool.definition)
        return parsed.map(lambda args: Execution(tool(context), args))
    except Exception as bug:
        _log.exception("%s could not be prepared", tool.__name__)
        return Err(UpstreamError(BROKEN, retryable=False, detail={"bug": repr(bug)}))


def _note(result: ToolResult) -> str:
    if isinstance(result.screen, str):
        return result.screen
    return json.dumps(result.screen, ensure_ascii=False, default=str)
