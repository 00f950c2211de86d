"""What the demo company's tools say, in German."""

import re
from datetime import date, timedelta

import pytest

from cogni_acme.host import TimeOff
from cogni_acme.tools import TOOLS, _steps
from cogni_acme.words import WORDS
from cogni_surfaces import HostWords, Language

GERMAN = HostWords(WORDS)
ENGLISH = re.compile(r"\b(the|to|days?|left|after|before|dates|balance|book|booked|you)\b", re.I)


def test_every_tool_its_arguments_and_its_activity_are_named_in_german() -> None:
    definitions = [tool.definition for tool in TOOLS]
    names = [str(d.name) for d in definitions] + [p.name for d in definitions for p in d.parameters]
    activities = [str(d.activity) for d in definitions]

    assert sorted(set(names) - GERMAN.names(Language.DE).keys()) == []
    assert [text for text in activities if GERMAN.said(text, Language.DE) == text] == []


@pytest.mark.parametrize("days", [1, 2, 12])
@pytest.mark.parametrize("first", [date(2027, month, month) for month in range(1, 13)])
def test_every_step_of_a_proposal_is_said_in_german(first: date, days: int) -> None:
    span = TimeOff(first, first + timedelta(days=days - 1), days, 20)
    said = [
        GERMAN.said(text, Language.DE)
        for step in _steps(span)
        for text in (step.title, step.detail)
    ]

    assert [text for text in said if ENGLISH.search(text)] == []
    assert f"{first.year}" in said[1]


def test_what_was_booked_is_said_in_german() -> None:
    booked = "Booked: Monday 3 May 2027 to Tuesday 4 May 2027. 2 working days; 20 days left before, 18 after."

    assert GERMAN.said(booked, Language.DE) == (
        "Gebucht: Montag, 3. Mai 2027 bis Dienstag, 4. Mai 2027. 2 Arbeitstage; vorher 20 Tage, danach 18."
    )
