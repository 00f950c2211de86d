import re
from collections.abc import AsyncIterator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogni_domain.ports.run_log import NumberedDelta
from cogni_engine import CitationDelta, Delta, DoneDelta, TokenDelta
from cogni_surfaces.chat import View, disclosed, the_rest
from cogni_surfaces.cutting import cut, limited

ANSWERS = st.text(alphabet="ab .!?\n`[s1]。", max_size=200)
MARKS = ("[s1]", "[s12]", "[s999999999]", "[[CHART:c3]]", "[[HIGHLIGHT:h21]]")
PIECES = st.lists(st.sampled_from((*MARKS, "word", "[s", "[[", "]", ". ", "漢")), max_size=40)


@given(ANSWERS, st.integers(1, 120))
def test_nothing_is_lost_and_the_first_piece_fits(text: str, limit: int) -> None:
    shown, rest = cut(text, limit)

    assert shown + rest == text
    assert len(shown) <= limit
    assert shown or not text


@pytest.mark.parametrize(
    ("text", "limit", "shown"),
    [
        ("One. Two. Three.", 11, "One. Two."),
        ("Leave is long [s1]. It is paid.", 24, "Leave is long [s1]."),
        ("It is so.[s1] And more of it.", 20, "It is so.[s1]"),
        ("First.\n\nSecond is long.", 12, "First.\n\n"),
        ("一二三。四五六。七八九。", 9, "一二三。四五六。"),
        ("abcdefgh ijkl", 10, "abcdefgh "),
        ("abcdefghijkl", 10, "abcdefghij"),
        ("Short.", 10, "Short."),
    ],
)
def test_an_answer_is_cut_where_a_person_would(text: str, limit: int, shown: str) -> None:
    assert cut(text, limit)[0] == shown


def test_no_cut_goes_through_code() -> None:
    text = "Here it is, whole.\n\n```\nfirst line\n\nsecond line\n```\n"

    assert cut(text, 36)[0] == "Here it is, whole.\n\n"


@given(PIECES, st.integers(20, 80))
def test_no_cut_goes_through_a_source_or_a_widget(pieces: list[str], limit: int) -> None:
    text = "".join(pieces)

    shown, rest = cut(text, limit)

    assert marks(shown) + marks(rest) == marks(text)


def marks(text: str) -> list[str]:
    return re.findall(r"\[\[[A-Z]+:[a-z][0-9]+\]\]|\[s[0-9]+\]", text)


def test_a_surface_without_a_limit_shows_all() -> None:
    assert cut("a " * 50_000, None) == ("a " * 50_000, "")


@pytest.mark.timeout(60)
def test_a_million_words_are_cut_all_the_same() -> None:
    """If it cost the square of its length, it would not come to an end before the test is ended."""
    shown, _ = cut("word and word again. " * 250_000, 4_000_000)

    assert shown.endswith(".")


def test_an_answer_that_was_cut_says_so_and_the_rest_is_whole() -> None:
    outcome = {
        "text": "Leave is long [s1]. It is paid [s2].",
        "citations": [
            {"handle": "s1", "label": "Leave", "locator": ""},
            {"handle": "s2", "label": "Pay", "locator": ""},
        ],
        "markers": [],
    }
    view = View(limit=24)

    shown, rest = disclosed(outcome, view), the_rest(outcome, view)

    assert (shown["more"], rest["more"]) == (True, False)
    assert f"{shown['text']}{rest['text']}" == outcome["text"]
    assert 'data-handle="s2"' in str(rest["html"])
    assert "more" not in disclosed(outcome)
    assert the_rest(outcome)["text"] == ""


async def streamed(
    pieces: Sequence[str], limit: int | None, after: int = 0
) -> list[tuple[int, Delta]]:
    """Return what is shown of an answer that comes in pieces, a source between each two of them."""
    deltas: list[Delta] = []
    for piece in pieces:
        deltas += [TokenDelta(piece), CitationDelta("s1", "Leave", "")]
    numbered = [NumberedDelta(n, delta) for n, delta in enumerate((*deltas, DoneDelta({})), 1)]

    async def source() -> AsyncIterator[NumberedDelta]:
        for each in numbered:
            yield each

    return [(n.cursor, n.delta) async for n in limited(source(), limit, after)]


def text_of(shown: Sequence[tuple[int, Delta]]) -> str:
    return "".join(delta.text for _, delta in shown if isinstance(delta, TokenDelta))


@given(PIECES, st.integers(0, 60))
async def test_a_stream_shows_no_more_than_the_surface_does_and_breaks_no_mark(
    pieces: list[str], limit: int
) -> None:
    whole = "".join(pieces)

    shown = await streamed(pieces, limit)

    text = text_of(shown)
    assert len(text) <= limit
    assert whole.startswith(text)
    assert marks(text) == marks(whole)[: len(marks(text))]
    assert text == whole or len(text) > limit - len("[[HIGHLIGHT:h21]]")
    others = [delta for _, delta in shown if not isinstance(delta, TokenDelta)]
    assert len(others) == len(pieces) + 1


@given(PIECES, st.integers(0, 60), st.integers(0, 90))
async def test_who_comes_back_in_the_middle_of_a_stream_is_shown_the_same(
    pieces: list[str], limit: int, after: int
) -> None:
    shown = await streamed(pieces, limit)

    assert await streamed(pieces, limit, after) == [each for each in shown if each[0] > after]


@given(PIECES)
async def test_a_stream_within_its_limit_is_as_it_is(pieces: list[str]) -> None:
    assert await streamed(pieces, 10_000) == await streamed(pieces, None)
