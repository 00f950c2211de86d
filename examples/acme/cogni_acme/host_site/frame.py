"""What surrounds every page: the header, the person picker, and the two lines that mount the assistant."""

from collections.abc import Mapping
from dataclasses import dataclass

from cogni_acme.host_site.markup import Html, fill, joined, script_value
from cogni_acme.host_site.visitor import Visitor
from cogni_acme.people import Company

NAV = {
    "/": "Home",
    "/handbook": "Handbook",
    "/requests": "Requests",
    "/people": "People",
    "/time-off": "Time off",
}
BRAND = {"colour_accent": "#0b6477", "colour_on_accent": "#ffffff"}


@dataclass(frozen=True, slots=True)
class Page:
    """One page, not framed yet.

    Attributes:
        nav: The entry of the navigation that it belongs to.
        subject: The record that it shows, by reference; None where it shows none.
    """

    title: str
    nav: str
    body: Html
    subject: Mapping[str, str] | None = None
    status: int = 200


@dataclass(frozen=True, slots=True)
class Mount:
    """How a page mounts the assistant.

    Attributes:
        product: The origin that serves the product.
        nonce: Of this response, so that its two scripts may run and no other.
    """

    product: str
    nonce: str


def framed(page: Page, path: str, visitor: Visitor, mount: Mount) -> Html:
    """Return the whole document."""
    return fill(
        _DOCUMENT,
        title=page.title,
        company=visitor.company.tenant.name,
        nav=joined(_entry(href, name, page.nav) for href, name in NAV.items()),
        picker=_picker(visitor, path),
        body=page.body,
        mount=_mount(page, visitor, mount),
    )


def _entry(href: str, name: str, current: str) -> Html:
    mark = Html(' aria-current="page"') if href == current else Html("")
    return fill('<li><a href="{href}"{mark}>{name}</a></li>', href=href, mark=mark, name=name)


def _picker(visitor: Visitor, path: str) -> Html:
    companies = visitor.everybody.companies
    groups = joined(_choices(company, visitor) for company in companies)
    return fill(_PICKER, groups=groups, path=path)


def _choices(company: Company, visitor: Visitor) -> Html:
    names = visitor.everybody.names(str(company.tenant.id))
    options = joined(
        fill(
            '<option value="{id}"{mark}>{name} ({id})</option>',
            id=person_id,
            name=name,
            mark=Html(" selected" if person_id == visitor.id else ""),
        )
        for person_id, name in names.items()
    )
    return fill(
        '<optgroup label="{name}">{options}</optgroup>', name=company.tenant.name, options=options
    )


def _mount(page: Page, visitor: Visitor, mount: Mount) -> Html:
    config = {
        "key_id": f"demo-{visitor.company.tenant.id}",
        "surface_id": "chat",
        "placement": "launcher",
        "brand": {"name": f"{visitor.company.tenant.name} assistant", **BRAND},
        "subject_ref": dict(page.subject) if page.subject else None,
    }
    given = {name: value for name, value in config.items() if value is not None}
    return fill(_MOUNT, product=mount.product, nonce=mount.nonce, config=script_value(given))


_DOCUMENT = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title} · {company}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/site.css">
</head>
<body>
<a class="skip" href="#content">Skip to content</a>
<header>
<a class="company" href="/">{company}</a>
<nav aria-label="Intranet"><ul>{nav}</ul></nav>
{picker}
</header>
<main id="content" tabindex="-1">
{body}
</main>
<footer><p>A demo: the people, pages and requests of {company} are made up.</p></footer>
{mount}
</body>
</html>
"""

_PICKER = """<form class="picker" method="post" action="/person">
<label for="person">You are</label>
<select id="person" name="person">{groups}</select>
<input type="hidden" name="next" value="{path}">
<button>Switch</button>
</form>"""

_MOUNT = """<div id="assistant"></div>
<script nonce="{nonce}" src="{product}/mount.js"></script>
<script nonce="{nonce}">window.CogniBuild?.mount("#assistant", {{...{config}, principal_token: () => fetch("/host-token").then(answer => answer.ok ? answer.text() : Promise.reject(answer.status))}});</script>"""
