import json
from datetime import date

import pytest

from cogni_evaluation import (
    Case,
    CaseSet,
    Stratum,
    read_cases,
    slice_from_json,
    slice_to_json,
)
from cogni_kernel import DocumentId, InvalidArgumentError
from cogni_testing import err, ok

FULL = Case(
    "c1",
    "Wie lange ist die Elternzeit?",
    "engineer",
    Stratum.LONG_TAIL,
    {DocumentId("d2"): 3, DocumentId("d1"): 1},
    context="Before.",
    must_contain=("20",),
    must_not_contain=("30",),
    notes="Asked often.",
    added=date(2026, 11, 1),
)
LINE = {"id": "c1", "question": "Q?", "scope_fixture": "hr", "stratum": "common"}


def test_a_case_comes_back_as_it_was_written() -> None:
    text = json.dumps(FULL.to_json())

    assert ok(read_cases("set", f"\n{text}\n\n")).cases == (FULL,)


def test_documents_may_be_listed_without_grades() -> None:
    text = json.dumps({**LINE, "must_retrieve": ["d1", "d2"]})

    [case] = ok(read_cases("set", text)).cases

    assert case.must_retrieve == {DocumentId("d1"): 1, DocumentId("d2"): 1}


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"stratum": "rare"}, "stratum is one of common"),
        ({"question": 3}, "question is a text"),
        ({"question": ""}, "an id and a question"),
        ({"expect_refusal": "yes"}, "true or false"),
        ({"must_retrieve": "d1"}, "must_retrieve is a list"),
        ({"must_retrieve": {"d1": "2"}}, "whole grades"),
        ({"must_retrieve": {"d1": True}}, "whole grades"),
        ({"must_retrieve": {"": 1}}, "DocumentId must not be empty"),
        ({"must_contain": [1]}, "must_contain is a list of texts"),
        ({"added": "last week"}, "last week"),
        ({"answer": "42"}, "there is no field answer"),
    ],
)
def test_a_wrong_field_is_named_with_its_line(change: dict[str, object], complaint: str) -> None:
    text = f"{json.dumps({**LINE, 'id': 'c0'})}\n{json.dumps({**LINE, **change})}"

    message = str(err(read_cases("set.jsonl", text), InvalidArgumentError).message)

    assert "set.jsonl, line 2" in message
    assert complaint in message


@pytest.mark.parametrize("text", ["[]", "{", "3", '"c1"', "\ud800", "[" * 100_000])
def test_a_line_that_is_no_object_is_refused(text: str) -> None:
    assert "line 1" in str(err(read_cases("set", text), InvalidArgumentError).message)


def test_a_file_without_cases_is_refused() -> None:
    assert "no case" in str(err(read_cases("set", " \n"), InvalidArgumentError).message)


def test_a_slice_comes_back_as_it_was_frozen() -> None:
    frozen = CaseSet("set", (FULL,)).freeze_slice(1)

    assert ok(slice_from_json(slice_to_json(frozen))) == frozen


def test_a_slice_that_somebody_edited_is_refused() -> None:
    text = slice_to_json(CaseSet("set", (FULL,)).freeze_slice(1))

    error = err(slice_from_json(text.replace("Elternzeit", "Probezeit")), InvalidArgumentError)

    assert "changed after it was frozen" in str(error.message)


@pytest.mark.parametrize("text", ["{}", "[]", "", '{"cases": [1]}', '{"cases": 1}'])
def test_what_is_no_slice_is_refused(text: str) -> None:
    err(slice_from_json(text), InvalidArgumentError)
