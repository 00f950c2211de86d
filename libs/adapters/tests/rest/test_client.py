"""What a client does when its source does not do its part."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import httpx2
import pytest

from cogni_adapters.rest.client import ATTEMPTS, LONGEST_WAIT_S, MAX_BYTES, RestClient
from cogni_adapters.rest.failures import SourceFailedError, listed, read
from cogni_kernel import (
    ConflictError,
    Error,
    InvalidArgumentError,
    NotFoundError,
    NotPermittedError,
    UpstreamError,
)
from cogni_testing import err, ok

Answer = httpx2.Response | Exception


class Scripted:
    """Answers in order, the last one for ever; remembers what it was asked and how long it was waited."""

    def __init__(self, *answers: Answer) -> None:
        self.answers = list(answers)
        self.asked: list[httpx2.Request] = []
        self.waited: list[float] = []

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        self.asked.append(request)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return httpx2.Response(answer.status_code, headers=answer.headers, content=answer.content)

    async def sleep(self, seconds: float) -> None:
        self.waited.append(seconds)

    def client(self, pace_s: float = 0) -> RestClient:
        transport = httpx2.MockTransport(self)
        return RestClient(
            "https://wiki.example/x/",
            bearer="secret",
            pace_s=pace_s,
            transport=transport,
            sleep=self.sleep,
        )


def says(status: int, body: str = "{}", **headers: str) -> httpx2.Response:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return httpx2.Response(status, text=body, headers=named)


async def failure(source: Scripted) -> Error:
    with pytest.raises(SourceFailedError) as failed:
        await source.client().get("/pages")
    return failed.value.error


async def test_an_answer_is_read_under_the_sources_own_path() -> None:
    source = Scripted(says(200, json.dumps({"a": [1]})))

    assert await source.client().get("/pages", {"q": "a b"}) == {"a": [1]}
    assert str(source.asked[0].url) == "https://wiki.example/x/pages?q=a+b"
    assert source.asked[0].headers["Authorization"] == "Bearer secret"


@pytest.mark.parametrize(
    ("status", "kind", "retryable"),
    [
        (400, InvalidArgumentError, False),
        (401, UpstreamError, False),
        (403, NotPermittedError, False),
        (404, NotFoundError, False),
        (410, ConflictError, False),
        (418, UpstreamError, False),
        (302, UpstreamError, False),
        (204, UpstreamError, False),
    ],
)
async def test_a_refusal_is_told_apart_and_asked_once(
    status: int, kind: type[Error], retryable: bool
) -> None:
    source = Scripted(says(status, Location="https://evil.example/"))

    error = await failure(source)

    assert (type(error), error.retryable) == (kind, retryable)
    assert len(source.asked) == 1


@pytest.mark.parametrize(
    "answer",
    [
        says(429),
        says(500),
        says(503),
        says(200, '{"pages": [1, 2'),
        says(200, ""),
        says(200, "<html>Sign in</html>"),
        httpx2.ReadError("cut"),
        httpx2.ConnectTimeout("late"),
    ],
)
async def test_what_may_pass_is_asked_again_with_growing_pauses_and_then_given_up(
    answer: Answer,
) -> None:
    source = Scripted(answer)

    error = await failure(source)

    assert error.retryable
    assert len(source.asked) == ATTEMPTS
    assert source.waited == [1, 2, 4]


async def test_a_source_that_recovers_is_not_told_of() -> None:
    source = Scripted(says(500), httpx2.ReadError("cut"), says(200, "[]"))

    assert await source.client().get("/pages") == []


async def test_it_waits_as_long_as_it_is_asked_to() -> None:
    in_a_minute = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    source = Scripted(says(429, Retry_After="7"), says(503, Retry_After=in_a_minute), says(200))

    await source.client().get("/pages")

    assert source.waited[0] == 7
    assert 25 < source.waited[1] <= 30


async def test_a_source_that_asks_for_longer_is_left_alone() -> None:
    source = Scripted(says(429, Retry_After=str(int(LONGEST_WAIT_S) + 1)))

    assert (await failure(source)).retryable
    assert source.waited == []


async def test_calls_are_paced() -> None:
    source = Scripted(says(200))
    client = source.client(pace_s=10)
    for _ in range(3):
        await client.get("/pages")

    assert [round(seconds, -1) for seconds in source.waited] == [10, 20]


async def test_an_answer_without_end_is_not_read_to_its_end() -> None:
    source = Scripted(httpx2.Response(200, content=b"[" + b"1," * (MAX_BYTES // 2)))

    error = await failure(source)

    assert isinstance(error, UpstreamError)
    assert len(source.asked) == 1


@pytest.mark.parametrize("said", [NotPermittedError, NotFoundError, ConflictError])
async def test_a_listing_that_is_refused_never_looks_like_an_empty_one(
    said: Callable[..., Error],
) -> None:
    async def refuse() -> None:
        raise SourceFailedError(said("No."))

    assert not err(await listed(refuse()), UpstreamError).retryable


async def test_a_document_that_we_may_not_look_at_any_more_is_gone() -> None:
    async def refuse() -> None:
        raise SourceFailedError(NotPermittedError("No."))  # type: ignore[arg-type]

    err(await read(refuse()), NotFoundError)


async def test_what_succeeds_is_a_value() -> None:
    async def work() -> int:
        return 1

    assert (ok(await listed(work())), ok(await read(work()))) == (1, 1)
