"""What a run is doing, for the person who waits."""

from enum import Enum


class Phase(Enum):
    """A stage worth showing; something is on screen within a second because of these."""

    RETRIEVING = "retrieving"
    CALLING_TOOL = "calling_tool"
    RENDERING = "rendering"
    COMPOSING = "composing"
