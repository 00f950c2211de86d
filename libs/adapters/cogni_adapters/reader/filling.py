"""A tool's arguments, as far as the question states them: what it does not state is not filled in."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from itertools import islice

from cogni_adapters.reader.dates import find_dates
from cogni_engine import Definition, Parameter, ParameterType

MOST_CALLS = 3

_EXAMPLE = re.compile(r"\b([A-Z]{1,10}[-_/]?)\d{1,12}\b")
_ISO_EXAMPLE = re.compile(r"\b\d{4}-\d{2}-\d{2}\b")
_DATE_NAME = re.compile(r"(?:^|_)(?:date|day)(?:_|$)")
_WHOLE_QUESTION = frozenset({"question", "query"})


@dataclass(frozen=True, slots=True)
class Filled:
    """Arguments of one tool.

    Attributes:
        calls: One set of arguments a call.
        is_named: Whether the question names something that the tool was made for: a number, a day, a word
            of its vocabulary.
        is_search: Whether the question itself is an argument.
    """

    calls: tuple[Mapping[str, str], ...]
    is_named: bool = False
    is_search: bool = False


def fill(definition: Definition, question: str) -> Filled | None:
    """Return what the question states of the tool's parameters; None where a required one is not stated.

    Several identifiers for one parameter make several calls. Days are taken in order, and only if there are
    exactly as many as the tool asks for.
    """
    calls: list[dict[str, str]] = [{}]
    days = iter(_days_for(definition, question))
    is_named = is_search = False
    for parameter in definition.parameters:
        values = list(_stated(parameter, question, days))
        if not values and parameter.required:
            return None
        if len(values) > 1 and len(calls) > 1:
            return None
        is_search |= bool(values) and parameter.name in _WHOLE_QUESTION
        is_named |= bool(values) and parameter.name not in _WHOLE_QUESTION
        if values:
            calls = [{**call, parameter.name: value} for call in calls for value in values]
    return Filled(tuple(calls[:MOST_CALLS]), is_named, is_search)


def _stated(parameter: Parameter, question: str, days: Iterator[date]) -> Iterator[str]:
    if parameter.type is not ParameterType.STRING:
        return
    if parameter.vocabulary is not None:
        yield from _spoken(parameter.vocabulary.names(), question)
    elif _is_date(parameter):
        yield from (day.isoformat() for day in islice(days, 1))
    elif example := _EXAMPLE.search(str(parameter.description)):
        yield from _identifiers(example[1], question)
    elif parameter.name in _WHOLE_QUESTION and parameter.required:
        yield question


def _spoken(names: tuple[str, ...], question: str) -> list[str]:
    """Return the longest name that stands in the question, if any does."""
    found = [
        n for n in names if re.search(rf"(?<!\w){re.escape(n)}(?!\w)", question, re.IGNORECASE)
    ]
    return sorted(found, key=len, reverse=True)[:1]


def _identifiers(prefix: str, question: str) -> list[str]:
    found = re.findall(
        rf"(?<![\w-]){re.escape(prefix)}\d{{1,12}}(?![\w-])", question, re.IGNORECASE
    )
    return list(dict.fromkeys(name.upper() for name in found))


def _is_date(parameter: Parameter) -> bool:
    named = _DATE_NAME.search(parameter.name) is not None
    return named or _ISO_EXAMPLE.search(str(parameter.description)) is not None


def _days_for(definition: Definition, question: str) -> list[date]:
    wanted = sum(_is_date(p) for p in definition.parameters if p.required)
    found = find_dates(question)
    return found if len(found) == wanted else []
