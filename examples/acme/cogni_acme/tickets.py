"""A ticket as the demo company keeps it, and as the text that is indexed of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

from cogni_acme.shape import choice, listing, mapping, text

_STATES = frozenset({"open", "waiting", "solved"})
_AUDIENCES = frozenset({"public", "internal"})
_KEYS = frozenset(
    {"reference", "title", "reporter", "status", "level", "opened", "body", "comments"}
)


@dataclass(frozen=True, slots=True)
class Comment:
    """One comment; an internal one has readers of its own."""

    author: str
    is_internal: bool
    day: date
    text: str


@dataclass(frozen=True, slots=True)
class Ticket:
    """One request. `level` is a name from the manifest of its tenant."""

    reference: str
    title: str
    reporter: str
    status: str
    level: str
    opened: date
    body: str
    comments: tuple[Comment, ...]

    def to_markdown(self, names: Mapping[str, str]) -> str:
        """Return the ticket with its public comments, never an internal one.

        Args:
            names: What each person is called.
        """
        parts = [
            f"# {self.reference}: {self.title}",
            f"{self.reference} is {self.status}. "
            f"It was opened on {self.opened} by {names[self.reporter]}.",
            self.body,
        ]
        for comment in self.comments:
            if not comment.is_internal:
                heading = f"## Comment of {comment.day} by {names[comment.author]}"
                parts += [heading, comment.text]
        return "\n\n".join(parts) + "\n"


def internal_to_markdown(ticket: Ticket, comment: Comment, names: Mapping[str, str]) -> str:
    """Return one internal comment as a text of its own."""
    return (
        f"# {ticket.reference}: internal comment\n\n"
        f"On {ticket.title}, {comment.day}, by {names[comment.author]}.\n\n{comment.text}\n"
    )


def parse_ticket(data: object, where: str) -> Ticket:
    """Check what a ticket's file holds.

    Raises:
        ValueError: A field is missing or wrong; names the file and the field.
    """
    found = mapping(data, where, _KEYS)

    def field(name: str) -> str:
        return text(found.get(name), f"{where}, {name}")

    comments = listing(found.get("comments", []), f"{where}, comments")
    return Ticket(
        field("reference"),
        field("title"),
        field("reporter"),
        choice(found.get("status"), f"{where}, status", _STATES),
        field("level"),
        _day(found.get("opened"), f"{where}, opened"),
        field("body"),
        tuple(
            _comment(entry, f"{where}, comment {n}") for n, entry in enumerate(comments, start=1)
        ),
    )


def _comment(data: object, where: str) -> Comment:
    found = mapping(data, where, frozenset({"author", "audience", "date", "text"}))
    return Comment(
        text(found.get("author"), f"{where}, author"),
        choice(found.get("audience"), f"{where}, audience", _AUDIENCES) == "internal",
        _day(found.get("date"), f"{where}, date"),
        text(found.get("text"), f"{where}, text"),
    )


def _day(value: object, where: str) -> date:
    if not isinstance(value, date):
        raise ValueError(f"{where}: expected a date like 2026-10-14")
    return value
