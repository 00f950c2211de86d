import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogni_engine import assistant, run_loop
from cogni_kernel import errors
from cogni_surfaces import Language, View, disclosed, language_of, said
from cogni_surfaces.texts import _GERMAN


@pytest.mark.parametrize(
    ("header", "language"),
    [
        ("", Language.EN),
        ("de", Language.DE),
        ("DE-AT", Language.DE),
        ("fr, de;q=0.8, en;q=0.7", Language.DE),
        ("en, de", Language.EN),
        ("de;q=0.1, en;q=0.9", Language.EN),
        ("de;q=0", Language.EN),
        ("de;q=x", Language.EN),
        ("*", Language.EN),
        ("germ\n", Language.EN),
    ],
)
def test_the_language_is_the_one_that_is_liked_best(header: str, language: Language) -> None:
    assert language_of(header) is language


@given(st.text(max_size=300))
def test_no_header_is_too_strange(header: str) -> None:
    assert language_of(header) in Language


def test_what_the_layers_below_say_is_known_here() -> None:
    below = (
        run_loop.NOT_OFFERED,
        run_loop.PROVIDER_DOWN,
        assistant.BROKE,
        errors.NOT_FOUND,
    )

    assert [str(text) for text in below if str(text) not in _GERMAN] == []


def test_every_translation_is_another_text() -> None:
    assert [text for text, german in _GERMAN.items() if text == german or not german.strip()] == []


def test_a_sentence_without_a_translation_stays() -> None:
    assert said("Nobody wrote this.", Language.DE) == "Nobody wrote this."


def test_a_refusal_is_told_in_the_persons_language_and_the_answer_before_it_stays() -> None:
    message = str(run_loop.NOT_OFFERED)
    outcome = {"text": f"First words.\n\n{message}", "message": message, "citations": []}

    told = disclosed(outcome, View(Language.DE))

    assert str(told["text"]).startswith("First words.\n\nDas kann ich")
    assert str(told["message"]).startswith("Das kann ich")
    assert disclosed(outcome)["text"] == outcome["text"]
