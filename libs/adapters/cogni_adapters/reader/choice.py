"""Whether one of the offered tools fits the question better than the passages do."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from cogni_adapters.reader.filling import Filled, fill
from cogni_domain.ports.embedder import EmbedderPort, Vectors
from cogni_engine import Definition, ToolCall
from cogni_kernel import Err, Ok, Result

FITS = 0.4
"""Cosine of question and description from which on a tool fits; the demo's other questions stay below."""
FITS_NAMED = 0.25
NAMED_BONUS = 0.25
"""For a question that names what the tool was made for."""
ALLOWANCE = 0.15
"""Descriptions are worded less like questions than sentences are."""


@dataclass(frozen=True, slots=True)
class _Candidate:
    definition: Definition
    filled: Filled
    fit: float

    @property
    def weight(self) -> float:
        return self.fit + (NAMED_BONUS if self.filled.is_named else 0.0)


class ToolChoice:
    """Picks by meaning: what a tool does and when to use it, against when not to.

    Descriptions are embedded once, however often they are offered.
    """

    def __init__(self, embedder: EmbedderPort) -> None:
        self._embedder = embedder
        self._known: dict[str, Vectors] = {}

    async def choose(
        self, question: str, tools: Sequence[Definition], support: float | None
    ) -> Result[tuple[ToolCall, ...]]:
        """Return the calls to make; none where the sources do as well, or an argument is not stated.

        Args:
            support: How well the best sentence at hand fits; None where there is no source at all, and
                only then is a tool that searches worth a call.

        Errors:
            UpstreamError: The embedder failed.
        """
        filled = {t.name: f for t in tools if (f := fill(t, question)) is not None}
        able = [t for t in tools if t.name in filled]
        if not able or not question:
            return Ok(())
        fits = await self._fits(question, able)
        if isinstance(fits, Err):
            return fits
        candidates = [
            _Candidate(tool, filled[tool.name], fit)
            for tool, (fit, contrary) in zip(able, fits.value, strict=True)
            if contrary < (FITS if filled[tool.name].is_search else fit)
        ]
        fitting = [c for c in candidates if _is_better(c, support or 0.0)]
        if not fitting and support is None:
            fitting = [c for c in candidates if c.filled.is_search]
        if not fitting:
            return Ok(())
        return Ok(_calls(max(fitting, key=lambda c: c.weight)))

    async def _fits(
        self, question: str, tools: Sequence[Definition]
    ) -> Result[list[tuple[float, float]]]:
        """Return how well each tool fits, and how well what it must not be used for does."""
        wanted = [text for tool in tools for text in (*_for(tool), _against(tool))]
        new = [text for text in dict.fromkeys(wanted) if text not in self._known]
        embedded = await self._embedder.embed([question, *new])
        if isinstance(embedded, Err):
            return embedded
        asked, *vectors = embedded.value
        self._known.update(zip(new, vectors, strict=True))
        return Ok(
            [
                (
                    max(float(asked @ self._known[text]) for text in _for(tool)),
                    float(asked @ self._known[_against(tool)]),
                )
                for tool in tools
            ]
        )


def _is_better(candidate: _Candidate, support: float) -> bool:
    if candidate.filled.is_search:
        return False
    if candidate.filled.is_named:
        return candidate.fit >= FITS_NAMED and candidate.weight >= support
    return candidate.fit >= FITS and candidate.fit + ALLOWANCE >= support


def _calls(chosen: _Candidate) -> tuple[ToolCall, ...]:
    name = str(chosen.definition.name)
    return tuple(
        ToolCall(f"call_{number}", name, json.dumps(arguments, ensure_ascii=False))
        for number, arguments in enumerate(chosen.filled.calls, start=1)
    )


def _for(tool: Definition) -> tuple[str, ...]:
    does, use_when = str(tool.does), str(tool.use_when)
    return does, use_when, f"{does} {use_when}", str(tool.name).replace("_", " ")


def _against(tool: Definition) -> str:
    return str(tool.do_not_use)
