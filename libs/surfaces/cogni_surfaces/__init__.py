"""What any surface must provide: the rendered answer, its label, and the encoded deltas."""

from cogni_surfaces.deltas import ServerEvent, json_line, server_event
from cogni_surfaces.renderer import GENERATED_LABEL, disclosed, render_answer

__all__ = [
    "GENERATED_LABEL",
    "ServerEvent",
    "disclosed",
    "json_line",
    "render_answer",
    "server_event",
]
