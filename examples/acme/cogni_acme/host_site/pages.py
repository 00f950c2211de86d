"""Every page of the intranet, for one visitor."""

import unicodedata
from collections.abc import Iterable
from itertools import groupby
from urllib.parse import quote

from cogni_acme.content import CHANGED, Item
from cogni_acme.host import TimeOff
from cogni_acme.host_site.frame import Page
from cogni_acme.host_site.markup import Html, fill, joined
from cogni_acme.host_site.text import to_html
from cogni_acme.host_site.visitor import Visitor
from cogni_acme.people import Person
from cogni_acme.tickets import Comment, Ticket

NEWEST = 4
RULES_OF_LEAVE = "wiki/handbook/leave/annual-leave"
_FIRST_SPACE = "handbook"
_SPACES = {"hr": "People", "on-call": "On call"}


def home(visitor: Visitor) -> Page:
    """Return the start page: what is new, what is open, how much leave is left."""
    changed = [page for page in visitor.pages() if page.updated_at == CHANGED]
    own = [ticket for ticket in visitor.requests() if ticket.status != "solved"]
    body = fill(
        _HOME,
        heading="Changed in the handbook" if changed else "From the handbook",
        name=visitor.name.partition(" ")[0],
        title=visitor.person.title,
        pages=_listed(map(_page_link, (changed or visitor.pages())[:NEWEST])),
        requests=_listed(_request_link(ticket) for ticket in own[:NEWEST]),
        leave=_balance(visitor),
    )
    return Page("Home", "/", body)


def people(visitor: Visitor) -> Page:
    """Return the list of everybody in the company."""
    rows = joined(_person(person) for person in visitor.colleagues)
    return Page("People", "/people", fill(_PEOPLE, rows=rows))


def handbook(visitor: Visitor) -> Page:
    """Return the pages that the visitor may open, by space."""
    ordered = sorted(visitor.pages(), key=lambda item: (_space(item) != _FIRST_SPACE, _space(item)))
    spaces = joined(
        fill(
            '<section class="card"><h2>{name}</h2>{pages}</section>',
            name=_readable(space),
            pages=_listed(map(_page_link, pages)),
        )
        for space, pages in groupby(ordered, _space)
    )
    return Page("Handbook", "/handbook", fill(_HANDBOOK, spaces=spaces))


def handbook_page(visitor: Visitor, page_id: str) -> Page:
    """Return one page of the handbook."""
    item = visitor.page(page_id)
    if item is None:
        return missing()
    above = item.place.split("/")[1:-1]
    text = item.data.decode()
    body = fill(
        _ARTICLE,
        trail=joined(fill("<li>{name}</li>", name=_readable(step)) for step in above),
        direction=direction(item.title),
        title=item.title,
        text=to_html(text),
        day=f"{item.updated_at:%-d %B %Y}",
    )
    return Page(item.title, "/handbook", body, _subject(item))


def requests(visitor: Visitor) -> Page:
    """Return the requests that the visitor may open."""
    rows = joined(_request_row(ticket, visitor.names) for ticket in visitor.requests())
    return Page("Requests", "/requests", fill(_REQUESTS, rows=rows))


def request(visitor: Visitor, reference: str) -> Page:
    """Return one request with the comments that the visitor may read."""
    found = visitor.request(reference)
    if found is None:
        return missing()
    item, ticket = found
    body = fill(
        _REQUEST,
        reference=ticket.reference,
        title=ticket.title,
        status=ticket.status,
        reporter=visitor.names[ticket.reporter],
        opened=f"{ticket.opened:%-d %B %Y}",
        text=to_html(ticket.body),
        comments=joined(_comment(comment, visitor.names) for comment in ticket.comments),
    )
    return Page(f"{ticket.reference}: {ticket.title}", "/requests", body, _subject(item))


def time_off(visitor: Visitor) -> Page:
    """Return the visitor's own leave; its record is the page that says how leave works."""
    rules = visitor.page(RULES_OF_LEAVE)
    body = fill(
        _TIME_OFF,
        balance=_balance(visitor),
        booked=_listed(_booking(span) for span in visitor.booked()),
        rules=fill("<p>How it works: {link}</p>", link=_page_link(rules)) if rules else "",
    )
    return Page("Time off", "/time-off", body, _subject(rules) if rules else None)


def missing() -> Page:
    """Return the one answer for what is not there and what is not for this visitor."""
    return Page("Not found", "", _MISSING, status=404)


def direction(text: str) -> str:
    """Return in which direction a text runs, by its first letter.

    >>> direction("(عربي) first")
    'rtl'
    """
    for sign in text:
        kind = unicodedata.bidirectional(sign)
        if kind in {"L", "R", "AL"}:
            return "ltr" if kind == "L" else "rtl"
    return "ltr"


def _subject(item: Item) -> dict[str, str]:
    return {"kind": item.kind.value, "id": item.id}


def _space(item: Item) -> str:
    return item.place.split("/")[1]


def _readable(step: str) -> str:
    return _SPACES.get(step, step.replace("-", " ").capitalize())


def _listed(links: Iterable[Html]) -> Html:
    items = joined(fill("<li>{link}</li>", link=link) for link in links)
    return fill('<ul class="plain">{items}</ul>', items=items) if items else _NOTHING


def _page_link(item: Item) -> Html:
    return fill('<a href="/{href}"><bdi>{title}</bdi></a>', href=quote(item.id), title=item.title)


def _request_link(ticket: Ticket) -> Html:
    return fill(
        '<a href="/requests/{href}">{reference}: <bdi>{title}</bdi></a>',
        href=quote(ticket.reference, safe=""),
        reference=ticket.reference,
        title=ticket.title,
    )


def _request_row(ticket: Ticket, names: dict[str, str]) -> Html:
    return fill(
        '<li class="row">{link}<span class="state {status}">{status}</span>'
        '<span class="quiet">{reporter}, {day}</span></li>',
        link=_request_link(ticket),
        status=ticket.status,
        reporter=names[ticket.reporter],
        day=f"{ticket.opened:%-d %B %Y}",
    )


def _comment(comment: Comment, names: dict[str, str]) -> Html:
    return fill(
        '<li class="card{kind}"><p class="quiet">{author}, {day}{note}</p>'
        '<div dir="auto">{text}</div></li>',
        kind=" internal" if comment.is_internal else "",
        author=names[comment.author],
        day=f"{comment.day:%-d %B %Y}",
        note=" · internal" if comment.is_internal else "",
        text=to_html(comment.text),
    )


def _person(person: Person) -> Html:
    account = person.account
    return fill(
        '<li class="card person"><span class="face" aria-hidden="true">{initials}</span>'
        '<div><h2><bdi>{name}</bdi></h2><p>{title}</p><p class="quiet">{office}</p></div></li>',
        initials="".join(word[:1] for word in account.display_name.split())[:2],
        name=account.display_name,
        title=person.title,
        office=str(account.attributes.get("office", "")).capitalize(),
    )


def _balance(visitor: Visitor) -> Html:
    days = visitor.days_left()
    if days is None:
        return Html("<p>You have no leave account here.</p>")
    return fill(
        '<p class="figure"><strong>{days}</strong> working days of leave left</p>', days=days
    )


def _booking(span: TimeOff) -> Html:
    last = f" to {span.last:%A, %-d %B %Y}" if span.last != span.first else ""
    unit = "day" if span.days == 1 else "days"
    return fill(
        "{span}: {days} working {unit}",
        span=f"{span.first:%A, %-d %B %Y}{last}",
        days=span.days,
        unit=unit,
    )


_NOTHING = Html('<p class="quiet">Nothing here.</p>')

_HOME = """<h1>Good day, {name}</h1>
<p class="lead">{title}</p>
<div class="cards">
<section class="card"><h2>{heading}</h2>{pages}<p><a href="/handbook">All pages</a></p></section>
<section class="card"><h2>Requests under way</h2>{requests}<p><a href="/requests">All requests</a></p></section>
<section class="card"><h2>Time off</h2>{leave}<p><a href="/time-off">Your leave</a></p></section>
</div>
"""

_PEOPLE = '<h1>People</h1>\n<ul class="cards">{rows}</ul>\n'

_HANDBOOK = """<h1>Handbook</h1>
<p class="lead">The pages that you may open.</p>
<div class="cards">{spaces}</div>
"""

_ARTICLE = """<article>
<nav aria-label="Where this page is"><ol class="trail"><li><a href="/handbook">Pages</a></li>{trail}</ol></nav>
<div dir="{direction}" class="text"><h1>{title}</h1>{text}</div>
<p class="quiet">Last changed on {day}.</p>
</article>
"""

_REQUESTS = """<h1>Requests</h1>
<p class="lead">The requests that you may open.</p>
<ul class="rows">{rows}</ul>
"""

_REQUEST = """<article class="text">
<p class="trail"><a href="/requests">Requests</a> <span>{reference}</span></p>
<h1 dir="auto">{title}</h1>
<p><span class="state {status}">{status}</span> <span class="quiet">Filed by {reporter} on {opened}</span></p>
<div dir="auto">{text}</div>
<h2>Comments</h2>
<ul class="comments">{comments}</ul>
</article>
"""

_TIME_OFF = """<h1>Time off</h1>
<div class="cards">
<section class="card"><h2>Your balance</h2>{balance}{rules}</section>
<section class="card"><h2>Booked</h2>{booked}</section>
<section class="card"><h2>Book leave</h2>
<p>Ask the assistant, and name the days: “Book leave from 14 to 16 December 2026.” It shows you what will change; nothing is booked before you accept.</p>
</section>
</div>
"""

_MISSING = Html(
    "<h1>Not found</h1>\n<p>There is no such page, or it is not open to you.</p>\n"
    '<p><a href="/">Back to the start page</a></p>\n'
)
