"""What a tool gives back: one form for the model, one for the surface."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from cogni_engine.channel.marker import Marker
from cogni_engine.channel.renderables import Renderable
from cogni_kernel import ModelFacingText


class CitationRef(Protocol):
    """A source of a result, as far as the engine needs to know one."""

    @property
    def handle(self) -> str:
        """The token to cite it with, `s1`."""
        ...


@dataclass(frozen=True, slots=True)
class ToolResult:
    """Two routes from one call.

    Attributes:
        for_model: What the model reads: the lossless result, a compact form, or a marker.
        screen: What the echo is made of; never enters the thread.
        for_surface: Structure that a surface renders, if any.
        citations: The sources it rests on.
        urls: Every URL in it that may be cited.
        is_empty: Whether it says that there is nothing; then it is no evidence.

    Raises:
        ValueError: `for_model` is not ModelFacingText, or an empty result does not explain itself.

    Source:
        COGNI.BUILD spec, package engine, "Tool Result"; spec/result-echo.md.
    """

    for_model: ModelFacingText
    screen: object
    for_surface: Renderable | None = None
    citations: tuple[CitationRef, ...] = ()
    urls: tuple[str, ...] = ()
    is_empty: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.for_model, ModelFacingText):
            raise ValueError("what the model reads of a result is ModelFacingText")
        if self.is_empty and self.for_model.is_blank():
            raise ValueError("an empty result explains why there is nothing")

    @staticmethod
    def marker(marker: Marker, summary: ModelFacingText) -> "ToolResult":
        """The payload went to the surface; the model gets its token and one line."""
        return ToolResult(
            ModelFacingText(f"{marker} {summary} Put the marker where it belongs in your answer."),
            {"marker": str(marker), "content": str(summary)},
        )

    @staticmethod
    def data(
        value: Mapping[str, object] | str,
        *,
        compact: ModelFacingText | None = None,
        renderable: Renderable | None = None,
        citations: tuple[CitationRef, ...] = (),
        urls: tuple[str, ...] = (),
    ) -> "ToolResult":
        """The result itself: lossless for the model, unless a compact form is given."""
        whole = value if isinstance(value, str) else json.dumps(dict(value), ensure_ascii=False)
        return ToolResult(compact or ModelFacingText(whole), value, renderable, citations, urls)

    @staticmethod
    def empty(explanation: ModelFacingText) -> "ToolResult":
        """There is nothing, and this is why; where something broke, return an Error instead."""
        return ToolResult(explanation, str(explanation), is_empty=True)
