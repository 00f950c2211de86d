"""What a host's tools say, in another language."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogni_domain.ports.run_log import NumberedDelta
from cogni_engine import CitationDelta, PhaseDelta, ProposalDelta
from cogni_surfaces import HostWords, Language, View, disclosed, server_event

WORDS = HostWords(
    {
        "de": {
            "Searching the handbook": "Das Handbuch wird durchsucht",
            "Book leave": "Urlaub buchen",
            "Dates": "Tage",
            "May": "Mai",
            "{first} to {last}": "{first} bis {last}",
            "{number} {month} {year}": "{number}. {month} {year}",
            "first_day": "Erster Tag",
        }
    }
)
VIEW = View(Language.DE, words=WORDS)


@pytest.mark.parametrize(
    ("english", "german"),
    [
        ("Searching the handbook", "Das Handbuch wird durchsucht"),
        ("3 May 2027", "3. Mai 2027"),
        ("3 May 2027 to 4 May 2027", "3. Mai 2027 bis 4. Mai 2027"),
        ("Nobody", "Nobody"),
        (" to ", " to "),
        ("", ""),
    ],
)
def test_a_sentence_is_said_as_the_table_has_it_or_stays(english: str, german: str) -> None:
    assert WORDS.said(english, Language.DE) == german
    assert WORDS.said(english, Language.EN) == english


@given(st.text())
def test_what_is_in_no_table_stays_as_it_is(text: str) -> None:
    assert HostWords().said(text, Language.DE) == text


@given(st.text(min_size=1).filter(lambda text: "{" not in text and "\n" not in text))
def test_what_fills_a_blank_comes_through_whole(text: str) -> None:
    words = HostWords({"de": {"Asked: {text}!": "Gefragt: {text}!"}})

    assert words.said(f"Asked: {text}!", Language.DE) == f"Gefragt: {text}!"


def test_names_of_tools_and_arguments_alone_are_names() -> None:
    assert WORDS.names(Language.DE) == {"first_day": "Erster Tag"}
    assert WORDS.names(Language.EN) == {}


def test_phases_places_and_proposals_of_a_stream_are_said_in_the_persons_language() -> None:
    rendering = {"title": "Book leave", "steps": [{"title": "Dates", "detail": "3 May 2027"}]}
    deltas = (
        PhaseDelta("calling_tool", "Searching the handbook"),
        CitationDelta("s1", "Leave", "line 3"),
        ProposalDelta("p1", rendering, "2026-12-01T10:00:00+00:00"),
    )

    phase, citation, proposal = (server_event(NumberedDelta(1, d), VIEW).data for d in deltas)

    assert "Das Handbuch wird durchsucht" in phase
    assert "Zeile 3" in citation
    assert '{"title":"Urlaub buchen","steps":[{"title":"Tage","detail":"3. Mai 2027"}]}' in proposal


def test_a_proposal_of_an_outcome_keeps_what_it_would_be_done_with() -> None:
    arguments = {"first_day": "Dates"}
    proposal = {"rendering": {"title": "Book leave"}, "arguments": arguments, "note": "Dates"}

    told = disclosed({"text": "", "proposal": proposal}, VIEW)["proposal"]

    assert told == {
        "rendering": {"title": "Urlaub buchen"},
        "arguments": arguments,
        "note": "Tage",
    }
