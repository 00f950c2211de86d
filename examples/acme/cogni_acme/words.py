"""What the demo company's tools say, in German: sentences as they have them, with a name for each blank."""

from collections.abc import Mapping
from types import MappingProxyType

_SENTENCES = {
    "Searching the handbook": "Das Handbuch wird durchsucht",
    "Looking up the request": "Der Vorgang wird nachgeschlagen",
    "Drawing the chart": "Das Diagramm wird gezeichnet",
    "Preparing the time off": "Der Urlaub wird vorbereitet",
    "Book annual leave": "Jahresurlaub buchen",
    "Dates": "Tage",
    "Working days": "Arbeitstage",
    "Balance": "Resturlaub",
    "1 working day": "1 Arbeitstag",
    "{days} working days": "{days} Arbeitstage",
    "{before} days left before, {after} after": "vorher {before} Tage, danach {after}",
    "Booked: {dates}. {days}; {balance}.": "Gebucht: {dates}. {days}; {balance}.",
    "{first} to {last}": "{first} bis {last}",
    "You have already booked leave on some of these days.": "An einigen dieser Tage haben Sie schon Urlaub.",
    "You asked for {days} days and have {left} left.": "Sie möchten {days} Tage und haben noch {left}.",
    "You have no leave account here. Ask your agency, or People.": (
        "Sie haben hier kein Urlaubskonto. Fragen Sie Ihre Agentur oder die Personalabteilung."
    ),
    "The days must lie ahead, the first before the last.": (
        "Die Tage müssen in der Zukunft liegen, der erste vor dem letzten."
    ),
    "There is no working day among these days.": "Unter diesen Tagen ist kein Arbeitstag.",
    "The days were not understood.": "Die Tage waren nicht zu verstehen.",
}
_NAMES = {
    "search_handbook": "Im Handbuch gesucht",
    "look_up_request": "Vorgang nachgeschlagen",
    "chart_headcount": "Belegschaft gezeichnet",
    "request_time_off": "Urlaub gebucht",
    "question": "Frage",
    "reference": "Nummer",
    "department": "Abteilung",
    "first_day": "Erster Tag",
    "last_day": "Letzter Tag",
}
_DAYS = {
    "Monday": "Montag",
    "Tuesday": "Dienstag",
    "Wednesday": "Mittwoch",
    "Thursday": "Donnerstag",
    "Friday": "Freitag",
    "Saturday": "Samstag",
    "Sunday": "Sonntag",
}
_MONTHS = {
    "January": "Januar",
    "February": "Februar",
    "March": "März",
    "April": "April",
    "May": "Mai",
    "June": "Juni",
    "July": "Juli",
    "August": "August",
    "September": "September",
    "October": "Oktober",
    "November": "November",
    "December": "Dezember",
}
_DATES = {
    f"{day} {{number}} {month} {{year}}": f"{tag}, {{number}}. {monat} {{year}}"
    for day, tag in _DAYS.items()
    for month, monat in _MONTHS.items()
}

WORDS: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {"de": _SENTENCES | _NAMES | _DATES},
)
"""By language tag."""
