"""What each of five persons can retrieve is what a real Redmine shows that person when asked directly.

Its first start takes minutes, so it is asked for: COGNI_RELEASE=1.
"""

import os
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from cogni_adapters.rest.client import RestClient
from cogni_adapters.ticketing.accounts import RedmineAccountsAdapter
from cogni_adapters.ticketing.redmine import RedmineConnectorAdapter
from tests.e2e.product import Product
from tests.servers.process import UnavailableError
from tests.servers.redmine import Redmine, password, redmine

SITE = "tickets.acme.example"
PEOPLE = ("mia", "dev", "rep", "own", "out")

pytestmark = pytest.mark.skipif(
    "COGNI_RELEASE" not in os.environ, reason="Redmine is started for a release: COGNI_RELEASE=1"
)


@pytest.fixture(scope="module")
def server() -> Iterator[Redmine]:
    try:
        with redmine() as running:
            yield running
    except UnavailableError as error:
        pytest.skip(f"Redmine is not here: {error}")


@pytest.fixture
async def client(server: Redmine) -> AsyncIterator[RestClient]:
    opened = RestClient(server.url, auth=("admin", "admin"), pace_s=0)
    yield opened
    await opened.close()


@dataclass
class Tickets:
    """A populated Redmine: ids by the names that the test uses."""

    server: Redmine
    ids: dict[str, int] = field(default_factory=dict)

    def add(self, kind: str, known_as: str, /, **fields: Any) -> None:
        answer = self.server.call("POST", f"/{kind}s.json", {kind: fields})
        self.ids[known_as] = answer[kind]["id"]

    def issue(self, subject: str, project: str, **more: Any) -> None:
        tracker = self.server.call("GET", "/trackers.json")["trackers"][0]["id"]
        text = {"subject": subject, "description": f"The handbook says {subject}."}
        fixed = {"tracker_id": tracker, "priority_id": 2, "project_id": project}
        self.add("issue", subject, **text, **fixed, **more)

    def change(self, subject: str, **fields: Any) -> None:
        path = f"/issues/{self.ids[subject]}.json"
        self.server.call("PUT", path, {"issue": fields})

    def populate(self) -> None:
        for name in PEOPLE:
            self.add(
                "user",
                name,
                login=name,
                firstname=name,
                lastname="Test",
                mail=f"{name}@acme.example",
                password=password(name),
            )
        self.add("group", "eng", name="eng", user_ids=[self.ids["dev"]])
        self.add("project", "pumps", name="Pumps", identifier="pumps", is_public=False)
        self.add("project", "open", name="Open", identifier="open", is_public=True)
        roles = {r["name"]: r["id"] for r in self.server.call("GET", "/roles.json")["roles"]}
        for who, role in (
            *(("mia", "Manager"), ("eng", "Developer")),
            *(("rep", "Reporter"), ("own", "Own only")),
        ):
            body = {"user_id": self.ids[who], "role_ids": [roles[role]]}
            path = "/projects/pumps/memberships.json"
            answer = self.server.call("POST", path, {"membership": body})
            self.ids[f"{who} in pumps"] = answer["membership"]["id"]
        self.issue("plain", "pumps")
        self.issue("secret", "pumps", is_private=True)
        self.issue("mine", "pumps", is_private=True, assigned_to_id=self.ids["rep"])
        self.issue("owned", "pumps", assigned_to_id=self.ids["own"])
        self.issue("everybody's", "open")
        self.change("plain", notes="The handbook has a public note.")
        self.change("plain", notes="The handbook has a private note.", private_notes=True)

    def shown_to(self, who: str) -> set[str]:
        """Return the texts that the server itself gives a person."""
        found: set[str] = set()
        for number in {self.ids[n] for n in self.ids if n in self._subjects}:
            try:
                path = f"/issues/{number}.json?include=journals"
                issue = self.server.call("GET", path, who=who)["issue"]
            except PermissionError:
                continue
            found.add(issue["description"])
            found |= {note["notes"] for note in issue["journals"] if note["notes"]}
        return found

    _subjects = ("plain", "secret", "mine", "owned", "everybody's")


async def compare(product: Product, tickets: Tickets) -> dict[str, set[str]]:
    found = {name: await product.texts_of(name) for name in PEOPLE}
    shown = {name: tickets.shown_to(name) for name in PEOPLE}
    assert found == shown
    return found


async def test_each_of_five_persons_finds_what_redmine_shows_them(
    server: Redmine, client: RestClient
) -> None:
    tickets = Tickets(server)
    tickets.populate()
    connector = RedmineConnectorAdapter(SITE, client, private_notes=True, page_size=2)
    product = Product(connector, RedmineAccountsAdapter(SITE, client))
    await product.start(PEOPLE)

    await product.ingest()
    first = await compare(product, tickets)

    tickets.change("plain", is_private=True)
    tickets.change("secret", is_private=False)
    tickets.change("everybody's", project_id="pumps")
    server.call("DELETE", f"/issues/{tickets.ids['owned']}.json")
    connector._known.clear()
    await product.ingest()
    changed = await compare(product, tickets)

    path = f"/groups/{tickets.ids['eng']}/users"
    server.call("DELETE", f"{path}/{tickets.ids['dev']}.json")
    server.call("POST", f"{path}.json", {"user_id": tickets.ids["out"]})
    await product.learn_members()
    moved = await compare(product, tickets)

    private = "The handbook has a private note."
    assert private in first["mia"] & first["dev"]
    assert private not in first["rep"] | first["own"] | first["out"]
    assert first["out"] == {"The handbook says everybody's."}
    assert changed["out"] == set()
    assert "The handbook says owned." in first["own"] - changed["own"]
    assert moved["dev"] == set()
    assert moved["out"] == changed["dev"]
