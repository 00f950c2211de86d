"""What comes in over HTTP: read once, bounded, strict."""

import asyncio
import ipaddress
from typing import Annotated, TypeVar

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    RootModel,
    StringConstraints,
    ValidationError,
)
from starlette.requests import ClientDisconnect, Request

from cogni_application.attached_files import MAX_NAME, Adding
from cogni_application.turn.feedback import Opinion
from cogni_application.turn.take_turn import TurnRequest
from cogni_domain.access.resolver import HostToken
from cogni_domain.reviews import MAX_COMMENT, ReviewReason, Verdict
from cogni_kernel import ConversationId, Err, Error, HumanText, InvalidArgumentError, Ok, Result
from cogni_surfaces import (
    AUTHORITY,
    PLACEMENTS,
    Language,
    OpenSurface,
    SurfaceConfig,
    View,
    config_of,
    language_of,
    why_not,
)

MAX_BODY = 2 * 2**20
BODY_S = 10.0
MAX_FILE = 20 * 2**20
FILE_S = 120.0
MAX_TOKEN = 16_384
MAX_KEY = 255
MAX_CURSOR = 2**53
MAX_FIELD = 64

_PASSED_ON = ("forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-real-ip")

M = TypeVar("M", bound=BaseModel)
Ref = Annotated[str, StringConstraints(min_length=1, max_length=128, pattern=r"^[A-Za-z0-9._:-]+$")]
SubjectId = Annotated[
    str, StringConstraints(min_length=1, max_length=256, pattern=r"^[^\x00-\x1f\x7f]+$")
]


class TooLargeError(InvalidArgumentError):
    """More was sent than is ever read."""


class TooSlowError(Error):
    """What was announced did not come in time."""


class SubjectRefBody(BaseModel):
    """The record that the person looks at, by reference."""

    model_config = ConfigDict(extra="forbid", strict=True)
    kind: Ref
    id: SubjectId


class TurnBody(BaseModel):
    """A question. The host gives identity by its token, never authority: anything else is refused."""

    model_config = ConfigDict(extra="forbid", strict=True)
    message: str = Field(description="The person's question, at most 32,000 characters.")
    conversation_id: Ref | None = Field(default=None, description="Go on with this conversation.")
    surface_id: Ref = Field(default="chat", description="Where it was asked.")
    subject_ref: SubjectRefBody | None = None


class MountBody(RootModel[dict[str, object]]):
    """What a host page gave when it mounted a surface, as it gave it; its token is in the header."""


class FeedbackBody(BaseModel):
    """What a person thinks of an answer."""

    model_config = ConfigDict(extra="forbid")
    verdict: Verdict
    reasons: frozenset[ReviewReason] = Field(default=frozenset(), description="What is wrong.")
    comment: str = Field(default="", max_length=MAX_COMMENT)


async def opinion_of(request: Request) -> Result[Opinion]:
    """Return what a person thinks of an answer.

    Errors:
        As of `read_body` and `idempotency_key_of`.
    """
    key = idempotency_key_of(request)
    if isinstance(key, Err):
        return key
    read = await read_body(request, FeedbackBody)
    if isinstance(read, Err):
        return read
    body = read.value
    return Ok(Opinion(body.verdict, body.reasons, body.comment, key.value))


async def turn_request_of(request: Request) -> Result[TurnRequest]:
    """Return what is asked.

    Errors:
        As of `read_body` and `idempotency_key_of`.
    """
    key = idempotency_key_of(request)
    if isinstance(key, Err):
        return key
    read = await read_body(request, TurnBody)
    if isinstance(read, Err):
        return read
    body, subject = read.value, read.value.subject_ref
    asked = TurnRequest(
        message=body.message,
        conversation_id=ConversationId(body.conversation_id) if body.conversation_id else None,
        surface_id=body.surface_id,
        subject_ref=(subject.kind, subject.id) if subject else None,
        idempotency_key=key.value,
    )
    return Ok(asked)


async def mounted_with(request: Request) -> Result[SurfaceConfig]:
    """Return the config that a host page mounted a surface with.

    Errors:
        InvalidArgumentError: It says more than a host may, or something else than it means; `detail["field"]` names it.
        As of `read_body` and `idempotency_key_of`.
    """
    key = idempotency_key_of(request)
    if isinstance(key, Err):
        return key
    read = await read_body(request, MountBody)
    if isinstance(read, Err):
        return read
    token, given = token_of(request), read.value.root
    if "principal_token" in given:
        return _wrong("principal_token", "The token goes into the Authorization header alone.")
    return config_of({**given, "principal_token": token.value if token else None})


async def read_body(request: Request, kind: type[M]) -> Result[M]:
    """Return the body as `kind`.

    Errors:
        InvalidArgumentError: Not JSON, or a field is wrong; `detail["field"]` names it.
        TooLargeError: It has more than `MAX_BODY` bytes; no more than those are read.
        TooSlowError: It was not there after `BODY_S` seconds.
    """
    try:
        async with asyncio.timeout(BODY_S):
            raw = await _bounded(request)
    except TimeoutError:
        return Err(
            TooSlowError(HumanText("Your request did not arrive in time. Please try again."))
        )
    except ClientDisconnect:
        return _wrong("body", "The request was cut off.")
    if raw is None:
        return Err(TooLargeError(HumanText(f"The request is too large: at most {MAX_BODY} bytes.")))
    try:
        return Ok(kind.model_validate_json(raw))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        field = ".".join(map(str, first["loc"]))[:MAX_FIELD] or "body"
        if first["type"] == "extra_forbidden" and first["loc"][-1] in AUTHORITY:
            return _wrong(field, f"{why_not(str(first['loc'][-1]))}.")
        return _wrong(field, f"{field}: {first['msg']}.")


async def file_of(request: Request) -> Result[Adding]:
    """Return the file that the body is, under the name in the address.

    Errors:
        InvalidArgumentError: It has no name, or one that is too long, or was cut off.
        TooLargeError: It has more than `MAX_FILE` bytes; no more than those are read.
        TooSlowError: It was not there after `FILE_S` seconds.
    """
    key = idempotency_key_of(request)
    if isinstance(key, Err):
        return key
    name = request.query_params.get("name", "").strip()
    if not 0 < len(name) <= MAX_NAME:
        return _wrong("name", f"name is what the file is called, at most {MAX_NAME} characters.")
    try:
        async with asyncio.timeout(FILE_S):
            raw = await _bounded(request, MAX_FILE)
    except TimeoutError:
        return Err(TooSlowError(HumanText("Your file did not arrive in time. Please try again.")))
    except ClientDisconnect:
        return _wrong("body", "The file was cut off.")
    if raw is None:
        return Err(TooLargeError(HumanText(f"The file is too large: at most {MAX_FILE} bytes.")))
    return Ok(Adding(name, raw, key.value))


async def _bounded(request: Request, limit: int = MAX_BODY) -> bytes | None:
    announced = request.headers.get("content-length", "")
    if announced.isdigit() and int(announced[:MAX_FIELD]) > limit:
        return None
    raw = bytearray()
    async for piece in request.stream():
        raw += piece
        if len(raw) > limit:
            return None
    return bytes(raw)


def frame_query_of(request: Request) -> Result[str]:
    """Return the id of the surface that a frame's address names.

    Errors:
        InvalidArgumentError: The address says what a host may not say or nobody knows, or an unknown placement.
    """
    query = request.query_params
    for key in query:
        if key.casefold() in AUTHORITY:
            return _wrong(key[:MAX_FIELD], f"{why_not(key)}.")
        if "token" in key.casefold():
            return _wrong(key[:MAX_FIELD], "A token never goes into an address.")
        if key not in ("surface_id", "placement"):
            message = f"There is no {key[:MAX_FIELD]!r}; an address has surface_id and placement."
            return _wrong(key[:MAX_FIELD] or "query", message)
    if query.get("placement", PLACEMENTS[0]) not in PLACEMENTS:
        return _wrong("placement", f"placement is {' or '.join(PLACEMENTS)}.")
    return Ok(surface_id_of(request))


def surface_id_of(request: Request) -> str:
    """Return from which surface a call comes that has no body."""
    return request.query_params.get("surface_id", "chat")


def subject_of(request: Request) -> Result[tuple[str, str] | None]:
    """Return the record that a call's address names, None where it names none.

    Errors:
        InvalidArgumentError: It is named by half, or by more than a reference.
    """
    for key in request.query_params:
        if key not in ("surface_id", "subject_kind", "subject_id"):
            return _wrong(key[:MAX_FIELD] or "query", f"{why_not(key)}.")
    parts = {name: request.query_params.get(f"subject_{name}") for name in ("kind", "id")}
    if all(value is None for value in parts.values()):
        return Ok(None)
    try:
        body = SubjectRefBody.model_validate(parts)
    except ValidationError as error:
        wrong = error.errors(include_url=False, include_input=False, include_context=False)[0]
        field = f"subject_{wrong['loc'][0]}"
        return _wrong(field, f"{field}: {wrong['msg']}.")
    return Ok((body.kind, body.id))


def view_of(request: Request, found: OpenSurface) -> View:
    """Return how an answer is shown to the caller there."""
    return View(language_in(request), found.surface.capabilities.max_output_length, found.words)


def language_in(request: Request) -> Language:
    """Return the language that the caller likes best."""
    return language_of(request.headers.get("accept-language", ""))


def width_of(request: Request) -> Result[int | None]:
    """Return how many pixels there are for a widget, None where the caller does not say.

    Errors:
        InvalidArgumentError: `width` is no number of pixels.
    """
    raw = request.query_params.get("width")
    if raw is None:
        return Ok(None)
    if raw.isascii() and raw.isdigit() and len(raw) <= 5:
        return Ok(int(raw))
    return _wrong("width", "width is a number of pixels.")


def cursor_of(request: Request) -> Result[int]:
    """Return the last event that the reader has, 0 for none.

    Errors:
        InvalidArgumentError: `Last-Event-ID` is not a cursor.
    """
    raw = request.headers.get("last-event-id", "").strip()
    if not raw:
        return Ok(0)
    if raw.isascii() and raw.isdigit() and len(raw) <= 16 and int(raw) <= MAX_CURSOR:
        return Ok(int(raw))
    return wrong_cursor("Last-Event-ID is the number of the last event that you have.")


def wrong_cursor(message: str) -> Err:
    """Return the error of a `Last-Event-ID` that cannot be."""
    return _wrong("Last-Event-ID", message)


def idempotency_key_of(request: Request) -> Result[str | None]:
    """Return the caller's key, None where there is none.

    Errors:
        InvalidArgumentError: It is longer than `MAX_KEY` characters.
    """
    key = request.headers.get("idempotency-key", "").strip()
    if len(key) > MAX_KEY:
        return _wrong("Idempotency-Key", f"Idempotency-Key has at most {MAX_KEY} characters.")
    return Ok(key or None)


def wants_stream(request: Request) -> bool:
    """Tell whether the caller takes server-sent events."""
    return "text/event-stream" in request.headers.get("accept", "").lower()


def token_of(request: Request) -> HostToken | None:
    """Return the one bearer token, and whether it came from this very machine."""
    given = request.headers.getlist("authorization")
    if len(given) != 1:
        return None
    scheme, _, value = given[0].partition(" ")
    value = value.strip()
    if scheme.casefold() != "bearer" or not value or len(value) > MAX_TOKEN:
        return None
    return HostToken(value, _is_loopback(request))


def _is_loopback(request: Request) -> bool:
    """A request that was passed on by a proxy came from elsewhere."""
    if any(header in request.headers for header in _PASSED_ON) or request.client is None:
        return False
    try:
        address = ipaddress.ip_address(request.client.host)
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return (mapped or address).is_loopback


def _wrong(field: str, message: str) -> Err:
    return Err(InvalidArgumentError(HumanText(message), detail={"field": field}))
