"""What a provider's failures are told as."""

from datetime import UTC, datetime

import pytest

from cogni_domain.providers.failures import (
    AWAY,
    BUSY,
    CUT,
    REFUSED,
    TOO_LONG,
    USED_UP,
    WITHHELD,
    away,
    in_stream,
    late,
    not_an_answer,
    refused,
    retry_after_s,
)
from cogni_engine import ChunkParser
from cogni_kernel import HumanText, TimeoutError, UpstreamError

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("headers", "wait_s"),
    [
        ({}, None),
        ({"retry-after": "3"}, 3.0),
        ({"retry-after": "-1"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "Mon, 02 Mar 2026 09:00:30 GMT"}, 30.0),
        ({"retry-after": "Mon, 02 Mar 2026 08:00:00 GMT"}, 0.0),
        ({"retry-after": "Mon, 02 Mar 2026 09:00:30 -0000"}, 30.0),
        ({"retry-after": "tomorrow"}, None),
        ({"retry-after-ms": "1500"}, 1.5),
        ({"retry-after-ms": "?", "retry-after": "4"}, 4.0),
    ],
)
def test_how_long_to_wait_is_read_in_every_form(
    headers: dict[str, str], wait_s: float | None
) -> None:
    assert retry_after_s(headers, NOW) == wait_s


@pytest.mark.parametrize(
    ("status", "code", "message", "retryable"),
    [
        (429, "rate_limit_exceeded", BUSY, True),
        (529, "overloaded_error", BUSY, True),
        (429, "insufficient_quota", USED_UP, False),
        (402, "billing_error", USED_UP, False),
        (408, "", AWAY, True),
        (500, "api_error", AWAY, True),
        (400, "invalid_request_error", REFUSED, False),
        (401, "authentication_error", REFUSED, False),
    ],
)
def test_a_refusal_is_told_by_its_status_and_code(
    status: int, code: str, message: HumanText, retryable: bool
) -> None:
    error = refused(status, code, {})

    assert (error.message, error.retryable) == (message, retryable)
    assert dict(error.detail) == {"status": status, "code": code}


def test_a_refusal_says_when_to_come_back() -> None:
    assert refused(429, "", {"retry-after": "2"}).detail["retry_after_s"] == 2.0


@pytest.mark.parametrize(
    ("code", "message", "retryable"),
    [
        ("overloaded_error", BUSY, True),
        ("rate_limit_exceeded", BUSY, True),
        ("insufficient_quota", USED_UP, False),
        ("invalid_prompt", REFUSED, False),
        ("server_error", AWAY, True),
        ("something new", AWAY, True),
    ],
)
def test_an_error_in_the_middle_is_told_by_its_code(
    code: str, message: HumanText, retryable: bool
) -> None:
    error = in_stream({"code": code, "message": "your text"})

    assert (error.message, error.retryable) == (message, retryable)
    assert "your text" not in repr(error)


def test_an_error_without_a_code_goes_by_its_type() -> None:
    assert in_stream({"type": "overloaded_error"}).message == BUSY


def test_a_provider_that_is_away_or_late_may_be_asked_again() -> None:
    assert away(OSError("your text")) == UpstreamError(AWAY)
    assert isinstance(late(OSError("your text")), TimeoutError)
    assert "your text" not in repr((away(OSError("your text")), late(OSError("your text"))))


@pytest.mark.parametrize(
    ("reason", "message", "retryable"),
    [
        ("length", TOO_LONG, False),
        ("content_filter", WITHHELD, False),
        (None, CUT, True),
    ],
)
def test_a_stream_that_was_not_let_finish_is_no_answer(
    reason: str | None, message: HumanText, retryable: bool
) -> None:
    error = not_an_answer(ChunkParser(finish_reason=reason))

    assert error is not None
    assert (error.message, error.retryable) == (message, retryable)


def test_an_error_in_a_stream_counts_more_than_its_end() -> None:
    error = not_an_answer(ChunkParser(finish_reason="stop", error={"code": "server_error"}))

    assert error == UpstreamError(AWAY)


def test_a_call_of_which_a_piece_was_lost_is_no_answer() -> None:
    parser = ChunkParser()
    call = {"index": 0, "id": "a", "function": {"name": "look_up", "arguments": "{}"}}
    parser.parse({"choices": [{"delta": {"tool_calls": [call]}, "finish_reason": "tool_calls"}]})
    parser.feed(b"data: {lost\n\n")

    error = not_an_answer(parser)

    assert error is not None
    assert (error.message, error.retryable) == (CUT, True)


def test_a_stream_that_ended_well_is_an_answer() -> None:
    assert not_an_answer(ChunkParser(finish_reason="stop")) is None
