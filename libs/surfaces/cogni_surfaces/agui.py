"""Deltas as the events of AG-UI 1: a second encoding of the same run."""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from cogni_domain.conversations import WITHHELD
from cogni_engine import (
    CitationDelta,
    Delta,
    DoneDelta,
    FailedDelta,
    HaltReason,
    MarkerDelta,
    PhaseDelta,
    ProposalDelta,
    RunDelta,
    TokenDelta,
    ToolCompletedDelta,
    to_payload,
)
from cogni_surfaces.chat import View, disclosed
from cogni_surfaces.deltas import json_line
from cogni_surfaces.texts import (
    BROKEN_STREAM,
    GENERATED_LABEL,
    IGNORED,
    NO_ANSWER,
    STATES,
    said,
)

AguiEvent: TypeAlias = dict[str, object]

PROTOCOL_VERSION = "1.0"
WITHHELD_REASON = "withheld"
DECISIONS = ("accept", "decline")
RESPONSE_SCHEMA: Mapping[str, object] = {
    "type": "object",
    "properties": {"decision": {"type": "string", "enum": list(DECISIONS)}},
    "required": ["decision"],
    "additionalProperties": False,
}
"""What answers the interrupt that a proposal is."""


class AguiRun:
    """One run: RUN_STARTED comes first, one RUN_FINISHED or RUN_ERROR last, and all that was opened is closed by then.

    The events follow from the deltas alone, so a run that is encoded again gives the same ones. What AG-UI has no
    word for is a CUSTOM event named `cogni.` and our own name.

    Args:
        thread_id: As the client gave it; the protocol wants it back unchanged.
        run_id: As the client gave it.
        ref: Begins the ids of messages and tool calls, which differ through a whole thread.
        ignored: The fields of the client's input that have no say here.

    Source:
        DESIGN D5, D22.
    """

    def __init__(
        self, thread_id: str, run_id: str, ref: str, view: View, ignored: Sequence[str] = ()
    ) -> None:
        self._ids = {"threadId": thread_id, "runId": run_id}
        self._ref = ref
        self._view = view
        self._ignored = ignored
        self._made = 0
        self._message: str | None = None
        self._step: str | None = None
        self._started = False
        self.ended = False

    def encode(self, delta: Delta) -> list[AguiEvent]:
        """Return the events of the next delta; none once the run has ended."""
        if self.ended:
            return []
        return [*self._start(), *self._encoded(delta)]

    def decided(self, proposal: Mapping[str, object]) -> list[AguiEvent]:
        """Return the whole run that a decision is answered with.

        Args:
            proposal: As the contract names it, after the decision.
        """
        words = str(proposal.get("note") or STATES[str(proposal["state"])])
        call = str(proposal["id"])
        return [
            *self._start(),
            self._result(call, said(words, self._view.language)),
            *self._text(words),
            *self._finished({"type": "success"}, proposal),
        ]

    def broken(self, reference: str = "") -> list[AguiEvent]:
        """Return what ends a run whose deltas came to no end; nothing where it has ended."""
        if self.ended:
            return []
        message = said(BROKEN_STREAM, self._view.language)
        return [*self._start(), *self._error(f"{message} {reference}".strip(), "interrupted")]

    def _start(self) -> list[AguiEvent]:
        if self._started:
            return []
        self._started = True
        started: AguiEvent = {"type": "RUN_STARTED", **self._ids}
        started["protocolVersion"] = PROTOCOL_VERSION
        if not self._ignored:
            return [started]
        message = said(IGNORED, self._view.language)
        return [started, _custom("ignored", {"fields": list(self._ignored), "message": message})]

    def _encoded(self, delta: Delta) -> list[AguiEvent]:
        match delta:
            case TokenDelta(text):
                return self._text(text)
            case PhaseDelta(phase, detail):
                return self._step_to(phase, self._view.said(detail))
            case ToolCompletedDelta():
                return self._called(delta)
            case RunDelta() | MarkerDelta() | ProposalDelta() | CitationDelta():
                return [_custom(delta.name, to_payload(delta))]
            case DoneDelta(outcome):
                return self._done(outcome)
            case FailedDelta(outcome):
                return self._failed(outcome)

    def _text(self, text: str) -> list[AguiEvent]:
        if not text:
            return []
        events: list[AguiEvent] = []
        if self._message is None:
            self._message = self._new_id()
            start: AguiEvent = {"type": "TEXT_MESSAGE_START", "messageId": self._message}
            label = said(GENERATED_LABEL, self._view.language)
            events = [{**start, "role": "assistant", "metadata": {"generated_label": label}}]
        content = {"type": "TEXT_MESSAGE_CONTENT", "messageId": self._message}
        return [*events, {**content, "delta": _translated(text, self._view)}]

    def _end_text(self) -> list[AguiEvent]:
        if self._message is None:
            return []
        ended, self._message = self._message, None
        return [{"type": "TEXT_MESSAGE_END", "messageId": ended}]

    def _step_to(self, phase: str, detail: str) -> list[AguiEvent]:
        if phase == self._step:
            return []
        before, self._step = self._end_step(), phase
        started: AguiEvent = {"type": "STEP_STARTED", "stepName": phase}
        return [*before, {**started, "metadata": {"detail": detail}}]

    def _end_step(self) -> list[AguiEvent]:
        if self._step is None:
            return []
        ended, self._step = self._step, None
        return [{"type": "STEP_FINISHED", "stepName": ended}]

    def _called(self, done: ToolCompletedDelta) -> list[AguiEvent]:
        """Return a whole call at once: what a tool is told is told after it has answered."""
        call = self._new_id()
        metadata = {"call_id": done.call_id, "execution_time": done.execution_time}
        return [
            *self._end_text(),
            *_call(call, done.tool, done.arguments),
            {**self._result(call, _content(done.result)), "metadata": metadata},
        ]

    def _result(self, call: str, content: str) -> AguiEvent:
        answer: AguiEvent = {"type": "TOOL_CALL_RESULT", "messageId": self._new_id()}
        return {**answer, "toolCallId": call, "content": content, "role": "tool"}

    def _done(self, outcome: Mapping[str, object]) -> list[AguiEvent]:
        if outcome.get("reason") == WITHHELD_REASON:
            return self._error(said(str(WITHHELD), self._view.language), WITHHELD_REASON)
        proposal, usage = outcome.get("proposal"), _usage(outcome)
        told = disclosed(outcome, self._view)
        if outcome.get("kind") == "proposed" and isinstance(proposal, Mapping):
            call = str(proposal.get("id"))
            asked = _call(call, str(proposal.get("tool")), proposal.get("arguments"))
            waits = {"type": "interrupt", "interrupts": [_interrupt(proposal)]}
            return [*self._end_text(), *asked, *self._finished(waits, told, usage)]
        stopped = outcome.get("reason") == HaltReason.STOPPED.value
        return self._finished({"type": "cancelled" if stopped else "success"}, told, usage)

    def _finished(
        self, ended: Mapping[str, object], result: object, usage: Mapping[str, object] | None = None
    ) -> list[AguiEvent]:
        finished: AguiEvent = {"type": "RUN_FINISHED", **self._ids, "outcome": ended}
        return [*self._close(), {**finished, "result": result, **(usage or {})}]

    def _failed(self, outcome: Mapping[str, object]) -> list[AguiEvent]:
        told = outcome.get("message") or NO_ANSWER
        code = outcome.get("reason") or "failed"
        return self._error(said(str(told), self._view.language), str(code), _usage(outcome))

    def _error(
        self, message: str, code: str, usage: Mapping[str, object] | None = None
    ) -> list[AguiEvent]:
        error: AguiEvent = {"type": "RUN_ERROR", "message": message, "code": code}
        return [*self._close(), {**error, **(usage or {})}]

    def _close(self) -> list[AguiEvent]:
        self.ended = True
        return [*self._end_text(), *self._end_step()]

    def _new_id(self) -> str:
        self._made += 1
        return f"{self._ref}.{self._made}"


def _custom(name: str, value: Mapping[str, object]) -> AguiEvent:
    return {"type": "CUSTOM", "name": f"cogni.{name}", "value": value}


def _call(call: str, tool: str, arguments: object) -> list[AguiEvent]:
    given = arguments if isinstance(arguments, Mapping) else {}
    return [
        {"type": "TOOL_CALL_START", "toolCallId": call, "toolCallName": tool},
        {"type": "TOOL_CALL_ARGS", "toolCallId": call, "delta": json_line(given)},
        {"type": "TOOL_CALL_END", "toolCallId": call},
    ]


def _content(result: object) -> str:
    """Return the screen's echo of a result as text; a tool that shows none has said nothing."""
    if isinstance(result, str):
        return result
    if isinstance(result, Mapping):
        return json_line(result)
    return "" if result is None else json_line({"result": result})


def _interrupt(proposal: Mapping[str, object]) -> dict[str, object]:
    rendering = proposal.get("rendering")
    title = rendering.get("title") if isinstance(rendering, Mapping) else None
    return {
        "id": str(proposal.get("id")),
        "reason": "tool_call",
        "message": str(title or proposal.get("tool")),
        "toolCallId": str(proposal.get("id")),
        "responseSchema": RESPONSE_SCHEMA,
        "expiresAt": str(proposal.get("expires_at")),
        "metadata": {"rendering": rendering},
    }


def _usage(outcome: Mapping[str, object]) -> dict[str, object]:
    """Return the run's tokens; nothing where the provider told none, since a lower bound is no count."""
    usage = outcome.get("usage")
    if not isinstance(usage, Mapping) or usage.get("absent", True):
        return {}
    return {"usage": [{"inputTokens": usage.get("input"), "outputTokens": usage.get("output")}]}


def _translated(text: str, view: View) -> str:
    """Return a text in the person's language where the whole of it is a sentence of the product's own."""
    own = text.lstrip("\n")
    return text[: len(text) - len(own)] + said(own, view.language)
