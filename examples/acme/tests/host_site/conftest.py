"""The intranet as people see it, and one whose titles attack it."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import date
from functools import cache
from typing import TypeAlias

import pytest

from cogni_acme.content import Item, load_content
from cogni_acme.host import LeaveAccounts, load_days_left
from cogni_acme.host_site.frame import Mount
from cogni_acme.host_site.site import HostSite
from cogni_acme.intranet import Intranet
from cogni_acme.people import load_people
from cogni_acme.request_desk import RequestDesk
from cogni_kernel import TenantId

Show: TypeAlias = Callable[..., tuple[int, str]]

MOUNT = Mount("http://127.0.0.1:8080", "n0nce")
TENANTS = (TenantId("acme"), TenantId("globex"))


@cache
def items(tenant: str) -> tuple[Item, ...]:
    return load_content(tenant).items()


def site_with(more: Mapping[str, Iterable[Item]]) -> HostSite:
    """Return the site; items of an id that is there already replace it."""
    intranets = {}
    for tenant in TENANTS:
        found = {item.id: item for item in (*items(str(tenant)), *more.get(str(tenant), ()))}
        intranets[tenant] = Intranet(found.values())
    accounts = LeaveAccounts(load_days_left(), today=lambda: date(2026, 12, 1))
    return HostSite(load_people(), intranets, RequestDesk(intranets), accounts)


@pytest.fixture
def site() -> HostSite:
    return site_with({})


@pytest.fixture
def show(site: HostSite) -> Show:
    """Return the status and the document of a path, as a person sees it."""

    def shown(path: str, person: str, of: HostSite = site) -> tuple[int, str]:
        return of.respond(path, of.person(person), MOUNT)

    return shown


@pytest.fixture
def renamed() -> Callable[[str, str], HostSite]:
    """Return the site with one page of another title and text."""

    def make(page_id: str, title: str) -> HostSite:
        page = next(item for item in items("acme") if item.id == page_id)
        return site_with(
            {"acme": [replace(page, title=title, data=f"# {title}\n\n{title}".encode())]}
        )

    return make
