"""A provider of language models for tests: three wire formats over real HTTP, well or badly behaved."""

from cogni_testing.providers.double import ProviderDouble
from cogni_testing.providers.faults import (
    COMMENT,
    INVALID_UTF8,
    NOT_A_NUMBER,
    NOT_JSON,
    UNKNOWN_EVENT,
    Cut,
    Drip,
    EmptyIds,
    ErrorEvent,
    Fault,
    Hang,
    HangUp,
    Insert,
    RepeatedUsage,
    SameIndex,
    ServesWhole,
    Split,
    Status,
)
from cogni_testing.providers.formats import CHAT, MESSAGES, RESPONSES, Format
from cogni_testing.providers.received import Received
from cogni_testing.providers.script import Finish, Script, ScriptedCall, Turn, calls, says

__all__ = [
    "CHAT",
    "COMMENT",
    "INVALID_UTF8",
    "MESSAGES",
    "NOT_A_NUMBER",
    "NOT_JSON",
    "RESPONSES",
    "UNKNOWN_EVENT",
    "Cut",
    "Drip",
    "EmptyIds",
    "ErrorEvent",
    "Fault",
    "Finish",
    "Format",
    "Hang",
    "HangUp",
    "Insert",
    "ProviderDouble",
    "Received",
    "RepeatedUsage",
    "SameIndex",
    "Script",
    "ScriptedCall",
    "ServesWhole",
    "Split",
    "Status",
    "Turn",
    "calls",
    "says",
]
