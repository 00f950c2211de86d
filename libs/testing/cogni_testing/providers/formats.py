"""The three wire formats, by what a double has to know of each."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from cogni_testing.providers import anthropic, chat, responses
from cogni_testing.providers.faults import Status
from cogni_testing.providers.frames import Frame
from cogni_testing.providers.playing import with_faults
from cogni_testing.providers.script import Turn

Document: TypeAlias = dict[str, object]


@dataclass(frozen=True, slots=True)
class Format:
    """How a turn and its failures look.

    Attributes:
        stream: The events of a streamed answer.
        whole: The same answer as one document.
        error: The body of an error, with its status.
        error_frame: An error in the middle of a stream, by its code.
    """

    stream: Callable[[Turn], list[Frame]]
    whole: Callable[[Turn], Document]
    error: Callable[[Status], Document]
    error_frame: Callable[[str], Frame]

    def events(self, turn: Turn) -> list[Frame]:
        """Return the events of a streamed answer as its faults leave them."""
        return with_faults(self.stream(turn), turn.faults, self.error_frame)


CHAT = Format(chat.stream, chat.whole, chat.error, chat.error_frame)
RESPONSES = Format(responses.stream, responses.whole, responses.error, responses.error_frame)
MESSAGES = Format(anthropic.stream, anthropic.whole, anthropic.error, anthropic.error_frame)
