"""Case sets and frozen slices as text: one case a line, and a slice with its digest."""

import json
from collections.abc import Mapping
from datetime import date

from cogni_evaluation.cases import Case, CaseSet, FrozenSlice, Stratum
from cogni_kernel import DocumentId, Err, HumanText, InvalidArgumentError, Ok, Result

_FIELDS = set(Case.__slots__)


def read_cases(name: str, text: str) -> Result[CaseSet]:
    """Read JSON Lines; `must_retrieve` is a list of ids, or an object of ids and grades.

    Errors:
        InvalidArgumentError: A line is no case; says which line, and what is wrong with it.
    """
    cases: list[Case] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            cases.append(_case(json.loads(line)))
        except (ValueError, RecursionError) as wrong:
            return _refused(f"{name}, line {number}: {wrong}")
    try:
        return Ok(CaseSet(name, tuple(cases)))
    except ValueError as wrong:
        return _refused(str(wrong))


def slice_to_json(frozen: FrozenSlice) -> str:
    """Return the slice as text that `slice_from_json` reads back."""
    cases = [case.to_json() for case in frozen.cases]
    return json.dumps(
        {"name": frozen.name, "digest": frozen.digest, "cases": cases}, ensure_ascii=False
    )


def slice_from_json(text: str) -> Result[FrozenSlice]:
    """Read a frozen slice.

    Errors:
        InvalidArgumentError: It is not one, or it was changed after it was frozen.
    """
    try:
        found = json.loads(text)
        if not isinstance(found, dict) or not isinstance(found.get("cases"), list):
            return _refused("This is no frozen slice.")
        cases = tuple(_case(case) for case in found["cases"])
        return Ok(FrozenSlice(str(found.get("name")), cases, str(found.get("digest"))))
    except (ValueError, RecursionError) as wrong:
        return _refused(str(wrong))


def _case(found: object) -> Case:
    """Return the case; raise ValueError with the field that is wrong."""
    if not isinstance(found, dict):
        raise ValueError("a case is a JSON object")
    if unknown := sorted(map(str, found.keys() - _FIELDS)):
        raise ValueError(f"there is no field {', '.join(unknown)}")
    refusal = found.get("expect_refusal", False)
    if not isinstance(refusal, bool):
        raise ValueError("expect_refusal is true or false")
    stratum, added = _text(found, "stratum"), _text(found, "added")
    if stratum not in {s.value for s in Stratum}:
        raise ValueError(f"stratum is one of {', '.join(s.value for s in Stratum)}")
    return Case(
        id=_text(found, "id"),
        question=_text(found, "question"),
        scope_fixture=_text(found, "scope_fixture"),
        stratum=Stratum(stratum),
        must_retrieve=_graded(found.get("must_retrieve", [])),
        expect_refusal=refusal,
        context=_text(found, "context"),
        must_contain=_texts(found, "must_contain"),
        must_not_contain=_texts(found, "must_not_contain"),
        notes=_text(found, "notes"),
        added=date.fromisoformat(added) if added else None,
    )


def _text(found: Mapping[str, object], name: str) -> str:
    value = found.get(name, "")
    if not isinstance(value, str):
        raise ValueError(f"{name} is a text")
    return value


def _texts(found: Mapping[str, object], name: str) -> tuple[str, ...]:
    value = found.get(name, [])
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        raise ValueError(f"{name} is a list of texts")
    return tuple(value)


def _graded(value: object) -> dict[DocumentId, int]:
    if isinstance(value, list):
        value = dict.fromkeys(map(str, value), 1)
    if not isinstance(value, dict) or not all(type(grade) is int for grade in value.values()):
        raise ValueError("must_retrieve is a list of documents, or documents with whole grades")
    return {DocumentId(document): grade for document, grade in value.items()}


def _refused(message: str) -> Err:
    return Err(InvalidArgumentError(HumanText(message)))
