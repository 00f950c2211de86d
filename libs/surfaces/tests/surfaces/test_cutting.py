import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogni_surfaces.chat import View, disclosed, the_rest
from cogni_surfaces.cutting import cut

ANSWERS = st.text(alphabet="ab .!?\n`[s1]。", max_size=200)


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
