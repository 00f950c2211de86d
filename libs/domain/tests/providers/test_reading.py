"""An answer read as it comes."""

import logging
from collections.abc import AsyncIterator, Iterable, Mapping

import pytest

from cogni_domain.providers.failures import CUT
from cogni_domain.providers.reading import read_answer
from cogni_domain.providers.translating import (
    Event,
    TranslatingParser,
    called,
    ended,
    object_in,
    objects_in,
    said,
    text_in,
)
from cogni_engine import ChunkParser, Emitter, ToolCall
from cogni_kernel import UpstreamError
from cogni_testing import err, ok

STREAM = {"content-type": "text/event-stream"}
SAID = b'data: {"choices": [{"delta": {"content": "so"}}]}\n\n'
OVER = b'data: {"model": "served", "choices": [{"finish_reason": "stop"}]}\n\n'


class Body:
    """A response whose body is these pieces."""

    def __init__(self, pieces: Iterable[bytes], headers: Mapping[str, str] = STREAM) -> None:
        self.pieces = tuple(pieces)
        self.headers = headers

    async def iter_bytes(self) -> AsyncIterator[bytes]:
        for piece in self.pieces:
            yield piece

    async def read(self) -> bytes:
        return b"".join(self.pieces)


async def test_text_is_told_while_it_comes() -> None:
    emitter = Emitter(lambda _: None)

    response = ok(await read_answer(Body([SAID, SAID, OVER]), ChunkParser(), emitter, "asked"))

    assert response.text == emitter.text == "soso"
    assert response.model_used == "served"


async def test_a_provider_that_does_not_name_its_model_answers_by_the_one_asked() -> None:
    stream = [SAID, OVER.replace(b"served", b"")]

    assert ok(await read_answer(Body(stream), ChunkParser(), None, "asked")).model_used == "asked"


async def test_a_document_is_read_as_one_event() -> None:
    document = b'{"choices": [{"message": {"content": "so"},\n "finish_reason": "stop"}]}'
    body = Body([document], {"content-type": "application/json; charset=utf-8"})

    assert ok(await read_answer(body, ChunkParser(), None, "asked")).text == "so"


async def test_what_cannot_be_read_is_logged_without_the_answer(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.WARNING)

    ok(await read_answer(Body([SAID, b"data: {secret\n\n", OVER]), ChunkParser(), None, "asked"))

    assert "asked: a chunk of" in caplog.text
    assert "secret" not in caplog.text


class Breaking(Body):
    """A body whose connection breaks where its pieces end."""

    async def iter_bytes(self) -> AsyncIterator[bytes]:
        for piece in self.pieces:
            yield piece
        raise ConnectionError("gone")


async def test_a_connection_that_breaks_after_the_answer_has_broken_nothing() -> None:
    response = ok(await read_answer(Breaking([SAID, OVER]), ChunkParser(), None, "asked"))

    assert response.text == "so"


async def test_a_connection_that_breaks_within_the_answer_is_the_clients_to_tell() -> None:
    with pytest.raises(ConnectionError):
        await read_answer(Breaking([SAID]), ChunkParser(), None, "asked")


async def test_a_stream_that_was_cut_is_a_failure() -> None:
    result = await read_answer(Body([SAID]), ChunkParser(), None, "asked")

    assert err(result, UpstreamError).message == CUT


def translate(event: Event) -> Iterable[Event]:
    if event.get("kind") == "words":
        return [said(text_in(event.get("text"))), said("!")]
    if event.get("kind") == "end":
        return [called(0, name="look_up", call_id="a"), called(0, arguments="{}"), ended("stop")]
    return ()


def test_events_of_another_shape_are_read_as_the_chunks_they_stand_for() -> None:
    parser = TranslatingParser(translate)

    text = parser.feed(b'data: {"kind": "words", "text": "so"}\n\ndata: {"kind": "odd"}\n\n')
    parser.feed(b'data: {"kind": "end"}\n\n')

    assert text == parser.text == "so!"
    assert parser.tool_calls == (ToolCall("a", "look_up", "{}"),)
    assert parser.is_whole


@pytest.mark.parametrize(
    ("value", "text"), [("so", "so"), ({"content": "so"}, "so"), ({"content": 1}, ""), (None, "")]
)
def test_text_is_text_also_in_an_object(value: object, text: str) -> None:
    assert text_in(value) == text


def test_what_is_no_object_is_passed_over() -> None:
    event: Event = {"one": {"a": 1}, "many": [{"a": 1}, 7, None], "odd": 7}

    assert object_in(event, "one") == {"a": 1}
    assert object_in(event, "odd") == object_in(event, "absent") == {}
    assert objects_in(event, "many") == [{"a": 1}]
    assert objects_in(event, "odd") == objects_in(event, "absent") == []
