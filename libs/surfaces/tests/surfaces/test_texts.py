import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogni_application.attached_files import UNREADABLE
from cogni_application.attachments import TOO_MANY
from cogni_application.turn import feedback, take_turn
from cogni_domain.access import resolver, scope
from cogni_domain.knowledge.locators import covering
from cogni_domain.providers import failures
from cogni_engine import assistant, describe, run_loop
from cogni_kernel import errors
from cogni_surfaces import Language, View, disclosed, language_of, said, said_place
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
        *UNREADABLE.values(),
        TOO_MANY,
        *(take_turn.BLANK, take_turn.TOO_LONG, feedback.GOES_ON),
        *(resolver.BAD_TOKEN, resolver.DISABLED, scope.NO_ACCESS, scope.TOO_MANY),
        *(failures.AWAY, failures.BUSY, failures.LATE, failures.CUT, failures.TOO_LONG),
        describe("t", does="d", use_when="u", do_not_use="n").activity,
    )

    assert [str(text) for text in below if str(text) not in _GERMAN] == []


@pytest.mark.parametrize(
    ("english", "named"),
    [
        ("Something went wrong on our side. Please try again; if it stays, report a1b2.", "a1b2"),
        ("Something went wrong on our side. Please ask again; if it stays, report r-7.", "r-7"),
        ("The file is too large: at most 20971520 bytes.", "20971520"),
    ],
)
def test_what_is_named_in_a_sentence_is_named_in_the_other_language(
    english: str, named: str
) -> None:
    german = said(english, Language.DE)

    assert german != english
    assert named in german
    assert said(english, Language.EN) == english


def test_a_proposal_says_what_became_of_it_in_the_persons_language() -> None:
    note = "This change could not be made. Nothing has happened."
    proposal = {"id": "p1", "rendering": {"title": "Book leave"}, "note": note}

    told = disclosed({"text": "", "proposal": proposal}, View(Language.DE))["proposal"]

    assert told == {**proposal, "note": said(note, Language.DE)}
    assert said(note, Language.DE) != note


@pytest.mark.parametrize(
    ("place", "german"),
    [
        ("page 3", "Seite 3"),
        ("lines 10-14", "Zeilen 10-14"),
        ("Leave › Parents › slide 2", "Leave › Parents › Folie 2"),
        ("Sheet1!A1:D20", "Sheet1!A1:D20"),
        ("page three", "page three"),
        ("line 3 of a song", "line 3 of a song"),
        ("", ""),
    ],
)
def test_a_place_is_said_in_the_persons_language(place: str, german: str) -> None:
    assert said_place(place, Language.DE) == german
    assert said_place(place, Language.EN) == place


def test_every_kind_of_place_that_is_read_has_a_german_name() -> None:
    kinds = ("page", "slide", "line", "row", "part", "paragraph", "section")
    for kind in kinds:
        assert covering([f"{kind} 1", f"{kind} 2"]) == f"{kind}s 1-2"
        assert said_place(f"{kind} 1", Language.DE) != f"{kind} 1"
        assert said_place(f"{kind}s 1-2", Language.DE) != f"{kind}s 1-2"


def test_places_of_an_answer_are_said_in_the_persons_language() -> None:
    citation = {"handle": "s1", "label": "Leave", "locator": "line 3", "document_id": "d1"}

    told = disclosed({"text": "Yes [s1].", "citations": [citation]}, View(Language.DE))

    assert told["citations"] == [{**citation, "locator": "Zeile 3"}]
    assert "Zeile 3" in str(told["html"])


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
