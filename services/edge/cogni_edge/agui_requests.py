"""What an AG-UI client sends: the last words of the person count, and answers to what waits for them."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints
from starlette.requests import Request

from cogni_application.turn.take_turn import TurnRequest
from cogni_edge.requests import (
    MAX_FIELD,
    idempotency_key_of,
    read_body,
    subject_of,
    surface_id_of,
)
from cogni_kernel import (
    ConversationId,
    Err,
    HumanText,
    InvalidArgumentError,
    Ok,
    ProposalId,
    Result,
)
from cogni_surfaces import DECISIONS

MAX_IGNORED = 20
_KNOWN = frozenset({"protocolVersion", "parentRunId"})
_ORDERS = frozenset({"system", "developer"})
"""Roles by which a client would tell the model what to do."""

_PLACE = re.compile(r"([0-9]{1,15})(?:\.([0-9]{1,4}))?")

ThreadId = Annotated[str, StringConstraints(max_length=128, pattern=r"^[A-Za-z0-9._:-]*$")]
RunId = Annotated[str, StringConstraints(min_length=1, max_length=256)]
InterruptId = Annotated[
    str, StringConstraints(min_length=1, max_length=128, pattern=r"^[A-Za-z0-9._:-]+$")
]


class MessageBody(BaseModel):
    """A message of the client's history."""

    model_config = ConfigDict(strict=True)
    role: str
    content: object = Field(default=None, description="Of a question: a text, or a list of parts.")


class ResumeBody(BaseModel):
    """An answer to an interrupt."""

    model_config = ConfigDict(strict=True)
    interruptId: InterruptId = Field(description="The id of the proposal.")  # noqa: N815 - the protocol's name
    status: Literal["resolved", "cancelled"]
    payload: object = Field(default=None, description='{"decision": "accept"} or "decline".')


class RunInputBody(BaseModel):
    """An AG-UI `RunAgentInput`; a field that is not named here is ignored, and the answer says so."""

    model_config = ConfigDict(extra="allow", strict=True)
    threadId: ThreadId = Field(description="An own conversation, or empty to begin one.")  # noqa: N815
    runId: RunId = Field(description="Comes back in the events.")  # noqa: N815
    messages: list[MessageBody] = Field(description="The last one of the user is the question.")
    resume: list[ResumeBody] | None = Field(default=None, max_length=1)


@dataclass(frozen=True, slots=True)
class Decision:
    """A person's answer to a proposal; `gives_up` where the client wants nothing but to go on."""

    proposal: ProposalId
    accepts: bool
    gives_up: bool
    key: str | None


@dataclass(frozen=True, slots=True)
class RunInput:
    """What is asked for.

    Attributes:
        wanted: A question, or the answer to a proposal.
        ignored: The fields with content that have no say here.
        after: The last event that the reader has, as (cursor, place among the events of that delta).
    """

    thread_id: str
    run_id: str
    wanted: TurnRequest | Decision
    ignored: Sequence[str]
    after: tuple[int, int] | None


async def run_input_of(request: Request) -> Result[RunInput]:
    """Return what an AG-UI client asks for.

    Errors:
        InvalidArgumentError: There is no question, an answer that answers nothing, or a place to go on from
            without the key of the run; `detail["field"]` names it.
        Error: As of `read_body`, `idempotency_key_of` and `subject_of`.
    """
    key = idempotency_key_of(request)
    if isinstance(key, Err):
        return key
    after = _after(request, key.value)
    if isinstance(after, Err):
        return after
    read = await read_body(request, RunInputBody)
    if isinstance(read, Err):
        return read
    body = read.value
    wanted: Result[Decision] | Result[TurnRequest] = (
        _decision(body.resume[0], key.value) if body.resume else _turn(request, body, key.value)
    )
    if isinstance(wanted, Err):
        return wanted
    return Ok(RunInput(body.threadId, body.runId, wanted.value, _ignored(body), after.value))


def _turn(request: Request, body: RunInputBody, key: str | None) -> Result[TurnRequest]:
    subject = subject_of(request)
    if isinstance(subject, Err):
        return subject
    question = _question(body.messages)
    if isinstance(question, Err):
        return question
    asked = TurnRequest(
        message=question.value,
        conversation_id=ConversationId(body.threadId) if body.threadId else None,
        surface_id=surface_id_of(request),
        subject_ref=subject.value,
        idempotency_key=key,
    )
    return Ok(asked)


def _question(messages: Sequence[MessageBody]) -> Result[str]:
    last = next((m for m in reversed(messages) if m.role == "user"), None)
    if last is None:
        return _wrong("messages", "messages has no question: no message of the user.")
    if isinstance(last.content, str):
        return Ok(last.content)
    parts = last.content if isinstance(last.content, list) else []
    texts = [part["text"] for part in parts if _is_text(part)]
    if len(texts) < max(1, len(parts)):
        return _wrong("messages", "A question is text; files are added to the conversation first.")
    return Ok("\n".join(texts))


def _is_text(part: object) -> bool:
    return (
        isinstance(part, Mapping)
        and part.get("type") == "text"
        and isinstance(part.get("text"), str)
    )


def _decision(answer: ResumeBody, key: str | None) -> Result[Decision]:
    proposal = ProposalId(answer.interruptId)
    if answer.status == "cancelled":
        return Ok(Decision(proposal, accepts=False, gives_up=True, key=key))
    given = answer.payload
    if not isinstance(given, Mapping) or set(given) != {"decision"}:
        return _wrong("resume.0.payload", 'payload is {"decision": "accept"} or "decline".')
    if given["decision"] not in DECISIONS:
        return _wrong("resume.0.payload.decision", f"decision is {' or '.join(DECISIONS)}.")
    return Ok(Decision(proposal, given["decision"] == DECISIONS[0], gives_up=False, key=key))


def _after(request: Request, key: str | None) -> Result[tuple[int, int] | None]:
    raw = request.headers.get("last-event-id", "").strip()
    if not raw:
        return Ok(None)
    if key is None:
        return _wrong("Last-Event-ID", "Last-Event-ID needs the Idempotency-Key of its run.")
    place = _PLACE.fullmatch(raw)
    if place is None or not raw.isascii():
        return _wrong("Last-Event-ID", "Last-Event-ID is the id of the last event that you have.")
    return Ok((int(place[1]), int(place[2] or 9999)))


def _ignored(body: RunInputBody) -> list[str]:
    """Return the fields that were sent with content and have no say; what was talked about is the server's anyway."""
    extra = body.model_extra or {}
    found = [name[:MAX_FIELD] for name in extra if extra[name] and name not in _KNOWN]
    orders = ["messages"] if any(m.role in _ORDERS for m in body.messages) else []
    return (orders + found)[:MAX_IGNORED]


def _wrong(field: str, message: str) -> Err:
    return Err(InvalidArgumentError(HumanText(message), detail={"field": field}))
