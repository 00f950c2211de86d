"""Arguments that the question states, and none that it does not."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogni_adapters.reader.dates import find_dates
from cogni_adapters.reader.filling import MOST_CALLS, Filled, fill
from cogni_engine import Definition, Parameter, ParameterType, Vocabulary, describe
from cogni_kernel import ModelFacingText, Ok, Result


class Offices(Vocabulary):
    def names(self) -> tuple[str, ...]:
        return ("York", "New York", "Leipzig")

    def resolve(self, spoken: str) -> Result[str]:
        return Ok(spoken)


def tool(*parameters: Parameter) -> Definition:
    return describe("t", does="d", use_when="u", do_not_use="n", parameters=parameters)


def text(
    name: str,
    description: str = "A text.",
    *,
    required: bool = True,
    vocabulary: Vocabulary | None = None,
    kind: ParameterType = ParameterType.STRING,
) -> Parameter:
    return Parameter(name, kind, ModelFacingText(description), required, vocabulary)


REFERENCE = text("reference", "The number, like REQ-4471.")
SPAN = (text("first_day"), text("last_day"))


@pytest.mark.parametrize(
    ("written", "days"),
    [
        ("2026-12-07", ["2026-12-07"]),
        ("on 7 December 2026.", ["2026-12-07"]),
        ("the 7th of Dec 2026", ["2026-12-07"]),
        ("December 7, 2026", ["2026-12-07"]),
        ("7. Dezember 2026", ["2026-12-07"]),
        ("am 07.12.2026", ["2026-12-07"]),
        ("from 7 to 11 December 2026", ["2026-12-07", "2026-12-11"]),
        ("7–11 December 2026", ["2026-12-07", "2026-12-11"]),
        ("30 November until 2 December 2026", ["2026-11-30", "2026-12-02"]),
        ("1 May 2026 and 2026-05-03", ["2026-05-01", "2026-05-03"]),
        ("vom 7. bis 11. Dezember 2026", ["2026-12-07", "2026-12-11"]),
        ("31 February 2026", []),
        ("2026-13-01", []),
        ("7 December", []),
        ("next Monday", []),
        ("12/07/2026", []),
        ("version 1.2.2026.4", []),
        ("in 2026", []),
    ],
)
def test_days_are_read_as_written_and_never_guessed(written: str, days: list[str]) -> None:
    assert [day.isoformat() for day in find_dates(written)] == days


@given(st.dates(date(1900, 1, 1), date(2100, 1, 1)))
def test_a_day_is_found_in_every_form(day: date) -> None:
    forms = [
        day.isoformat(),
        f"{day.day} {day:%B} {day.year}",
        f"{day:%B} {day.day}, {day.year}",
        f"{day.day}.{day.month}.{day.year}",
    ]

    assert [find_dates(f"Leave on {form}, please") for form in forms] == [[day]] * 4


@given(st.text(max_size=60))
def test_no_text_is_too_odd_to_look_for_days_in(written: str) -> None:
    find_dates(written)


def test_a_tool_without_parameters_needs_nothing() -> None:
    assert fill(tool(), "anything") == Filled(({},))


def test_an_identifier_is_taken_by_its_example() -> None:
    assert fill(tool(REFERENCE), "Is req-17 open?") == Filled(({"reference": "REQ-17"},), True)


@pytest.mark.parametrize("question", ["Is it open?", "Is INC-17 open?", "Is XREQ-17 open?", "REQ-"])
def test_another_kind_of_identifier_is_not_taken(question: str) -> None:
    assert fill(tool(REFERENCE), question) is None


def test_several_identifiers_make_several_calls_up_to_a_limit() -> None:
    found = fill(tool(REFERENCE), " ".join(f"REQ-{n}" for n in (1, 2, 2, 3, 4, 5)))

    assert found is not None
    assert [call["reference"] for call in found.calls] == ["REQ-1", "REQ-2", "REQ-3"]
    assert len(found.calls) == MOST_CALLS


def test_several_values_for_two_parameters_are_ambiguous() -> None:
    other = text("other", "Another, like INC-1.")

    assert fill(tool(REFERENCE, other), "REQ-1 REQ-2 INC-1 INC-2") is None
    assert fill(tool(REFERENCE, other), "REQ-1 INC-1") is not None


def test_days_are_filled_in_order_if_there_are_as_many_as_asked_for() -> None:
    found = fill(tool(*SPAN), "from 2026-12-07 to 2026-12-11")

    assert found == Filled(({"first_day": "2026-12-07", "last_day": "2026-12-11"},), True)


@pytest.mark.parametrize(
    "question", ["from 2026-12-07 on", "2026-12-07, 2026-12-08 or 2026-12-09", "next week"]
)
def test_too_few_or_too_many_days_are_not_filled_in(question: str) -> None:
    assert fill(tool(*SPAN), question) is None


def test_a_word_of_a_vocabulary_is_taken_the_longest_first() -> None:
    office = text("office", vocabulary=Offices())

    assert fill(tool(office), "Who is in new york?") == Filled(({"office": "New York"},), True)
    assert fill(tool(office), "Who is in Yorkshire?") is None


def test_an_optional_parameter_is_left_out_where_it_is_not_stated() -> None:
    optional = text("office", required=False, vocabulary=Offices())

    assert fill(tool(optional), "Who is in?") == Filled(({},))


@pytest.mark.parametrize("name", ["question", "query"])
def test_a_question_is_its_own_argument(name: str) -> None:
    found = fill(tool(text(name)), "How much leave?")

    assert found == Filled(({name: "How much leave?"},), is_search=True)


@pytest.mark.parametrize(
    "parameter",
    [
        text("reason"),
        text("count", kind=ParameterType.INTEGER),
        text("tags", kind=ParameterType.STRINGS),
    ],
)
def test_what_cannot_be_stated_honestly_is_not_made_up(parameter: Parameter) -> None:
    assert fill(tool(parameter), "Because of 3 reasons") is None
