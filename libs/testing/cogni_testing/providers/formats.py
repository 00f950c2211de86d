"""What a wire format has to know."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from cogni_testing.providers.faults import Status
from cogni_testing.providers.frames import Frame
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
