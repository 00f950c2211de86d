"""Days as people write them, where nothing has to be guessed."""

import re
from collections.abc import Iterator
from datetime import date

_ENGLISH = "january february march april may june july august september october november december"
_GERMAN = "januar februar märz april mai juni juli august september oktober november dezember"
MONTHS = {
    form: number
    for names in (_ENGLISH, _GERMAN)
    for number, name in enumerate(names.split(), start=1)
    for form in (name, name[:3])
}
_MONTH = "|".join(sorted(MONTHS, key=len, reverse=True))
_DAY = r"\d{1,2}(?:st|nd|rd|th|\.)?"
_TO = r"\s*(?:to|until|till|through|and|bis|und|-|–|—)\s*"

_DATE = re.compile(
    r"(?<![\d-])(?P<iso>\d{4}-\d{2}-\d{2})(?![\d-])"
    r"|(?<![\d.])(?P<dotted>\d{1,2}\.\d{1,2}\.\d{4})(?!\.?\d)"
    rf"|(?:(?<!\d)(?P<first>{_DAY})(?:\s*(?P<first_month>{_MONTH})\b\.?)?{_TO})?"
    rf"(?<!\d)(?P<day>{_DAY})\s*(?:of\s+)?(?P<month>{_MONTH})\b\.?,?\s*(?P<year>\d{{4}})(?!\d)"
    rf"|\b(?P<us_month>{_MONTH})\b\.?\s+(?P<us_day>{_DAY}),?\s+(?P<us_year>\d{{4}})(?!\d)",
    re.IGNORECASE,
)


def find_dates(text: str) -> list[date]:
    """Return the days named in a text, in order; each with its year, since none is ever guessed.

    >>> find_dates("from 7 to 11 December 2026")
    [datetime.date(2026, 12, 7), datetime.date(2026, 12, 11)]
    """
    found: list[date] = []
    for match in _DATE.finditer(text):
        try:
            found += _days(match)
        except ValueError:
            continue
    return found


def _days(match: re.Match[str]) -> Iterator[date]:
    """Yield one day, or both of a range that shares its year; raises ValueError for a day that never was."""
    if match["iso"]:
        yield date.fromisoformat(match["iso"])
    elif match["dotted"]:
        day, month, year = map(int, match["dotted"].split("."))
        yield date(year, month, day)
    elif match["us_month"]:
        yield _day(match["us_day"], match["us_month"], match["us_year"])
    else:
        if match["first"]:
            yield _day(match["first"], match["first_month"] or match["month"], match["year"])
        yield _day(match["day"], match["month"], match["year"])


def _day(day: str, month: str, year: str) -> date:
    return date(int(year), MONTHS[month.casefold()], int(re.sub(r"\D", "", day)))
