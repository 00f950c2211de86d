"""What comes in over HTTP: read once, bounded, strict."""

import ipaddress
from typing import Annotated, TypeVar

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError
from starlette.requests import Request

from cogni_domain.access.resolver import HostToken
from cogni_kernel import Err, HumanText, InvalidArgumentError, Ok, Result

MAX_BODY = 2 * 2**20
MAX_TOKEN = 16_384
MAX_CURSOR = 2**53

M = TypeVar("M", bound=BaseModel)
Ref = Annotated[str, StringConstraints(min_length=1, max_length=128, pattern=r"^[A-Za-z0-9._:-]+$")]


class SubjectRefBody(BaseModel):
    """The record that the person looks at, by reference."""

    model_config = ConfigDict(extra="forbid")
    kind: Ref
    id: Ref


class TurnBody(BaseModel):
    """A question. The host gives identity by its token, never authority: anything else is refused."""

    model_config = ConfigDict(extra="forbid")
    message: str = Field(description="The person's question, at most 32,000 characters.")
    conversation_id: Ref | None = Field(default=None, description="Go on with this conversation.")
    surface_id: Ref = Field(default="chat", description="Where it was asked.")
    subject_ref: SubjectRefBody | None = None


async def read_body(request: Request, kind: type[M]) -> Result[M]:
    """Return the body as `kind`.

    Errors:
        InvalidArgumentError: Not JSON, too large, or a field is wrong; `detail["field"]` names it.
    """
    raw = bytearray()
    async for piece in request.stream():
        raw += piece
        if len(raw) > MAX_BODY:
            return _wrong("message", f"The request is too large: at most {MAX_BODY} bytes.")
    try:
        return Ok(kind.model_validate_json(bytes(raw)))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        field = ".".join(map(str, first["loc"])) or "body"
        return _wrong(field, f"{field}: {first['msg']}.")


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
    return _wrong("Last-Event-ID", "Last-Event-ID is the number of the last event you have.")


def idempotency_key_of(request: Request) -> Result[str | None]:
    """Return the caller's key, None where there is none.

    Errors:
        InvalidArgumentError: It is longer than 255 characters.
    """
    key = request.headers.get("idempotency-key", "").strip()
    if len(key) > 255:
        return _wrong("Idempotency-Key", "Idempotency-Key has at most 255 characters.")
    return Ok(key or None)


def token_of(request: Request) -> HostToken | None:
    """Return the bearer token, and whether it came from this very machine."""
    scheme, _, value = request.headers.get("authorization", "").partition(" ")
    value = value.strip()
    if scheme.casefold() != "bearer" or not value or len(value) > MAX_TOKEN:
        return None
    return HostToken(value, _is_loopback(request))


def _is_loopback(request: Request) -> bool:
    """A request that was passed on by a proxy came from elsewhere."""
    if "forwarded" in request.headers or "x-forwarded-for" in request.headers:
        return False
    try:
        return request.client is not None and ipaddress.ip_address(request.client.host).is_loopback
    except ValueError:
        return False


def _wrong(field: str, message: str) -> Err:
    return Err(InvalidArgumentError(HumanText(message), detail={"field": field}))
