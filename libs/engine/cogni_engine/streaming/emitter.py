"""Where a run says what is happening while it happens."""

from collections.abc import Callable

from cogni_engine.streaming.deltas import Delta, PhaseDelta, TokenDelta
from cogni_engine.streaming.phases import Phase
from cogni_kernel import HumanText, encodable


class Emitter:
    """Hands every delta of a run to one listener, in order, at once.

    Source:
        COGNI.BUILD spec, package engine, "Emitter".
    """

    def __init__(self, listener: Callable[[Delta], None]) -> None:
        self._listener = listener
        self._shown: list[str] = []

    @property
    def text(self) -> str:
        """All text so far, as the model wrote it."""
        return "".join(self._shown)

    @property
    def shown(self) -> int:
        """How many pieces of text were passed on: it grows as soon as anything was shown."""
        return len(self._shown)

    def emit(self, delta: Delta) -> None:
        """Pass on any delta."""
        self._listener(delta)

    def emit_token(self, text: str) -> None:
        """Pass on text as the model wrote it, not yet verified; empty text is nothing.

        Half a surrogate pair becomes U+FFFD: an adapter joins the halves before it emits.
        """
        if text:
            kept = encodable(text)
            self._shown.append(kept)
            self._listener(TokenDelta(kept))

    def emit_phase(self, phase: Phase, detail: HumanText) -> None:
        """Say what the run is doing now."""
        self._listener(PhaseDelta(phase.value, str(detail)))
