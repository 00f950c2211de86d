"""What any surface must provide: the rendered answer, its label, and the encoded deltas."""

from cogni_surfaces.agui import DECISIONS, AguiEvent, AguiRun
from cogni_surfaces.base import Base, Confirmation, SurfaceCapabilities
from cogni_surfaces.brand import BrandTokens
from cogni_surfaces.chat import (
    ChatSurface,
    View,
    disclosed,
    render_answer,
    spoken_proposal,
    the_rest,
)
from cogni_surfaces.cutting import limited
from cogni_surfaces.deltas import ServerEvent, json_line, server_event
from cogni_surfaces.mount import AUTHORITY, PLACEMENTS, SurfaceConfig, config_of, why_not
from cogni_surfaces.registry import OpenSurface, SurfaceRegistry
from cogni_surfaces.terminal import TerminalSurface
from cogni_surfaces.texts import GENERATED_LABEL, Language, language_of, said, said_place
from cogni_surfaces.web_files import WebFile, web_asset, web_frame, web_mount
from cogni_surfaces.widgets import widget_view
from cogni_surfaces.words import HostWords

__all__ = [
    "AUTHORITY",
    "DECISIONS",
    "GENERATED_LABEL",
    "PLACEMENTS",
    "AguiEvent",
    "AguiRun",
    "Base",
    "BrandTokens",
    "ChatSurface",
    "Confirmation",
    "HostWords",
    "Language",
    "OpenSurface",
    "ServerEvent",
    "SurfaceCapabilities",
    "SurfaceConfig",
    "SurfaceRegistry",
    "TerminalSurface",
    "View",
    "WebFile",
    "config_of",
    "disclosed",
    "json_line",
    "language_of",
    "limited",
    "render_answer",
    "said",
    "said_place",
    "server_event",
    "spoken_proposal",
    "the_rest",
    "web_asset",
    "web_frame",
    "web_mount",
    "why_not",
    "widget_view",
]
