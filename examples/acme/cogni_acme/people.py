"""The people of the demo company, their groups, attributes and grants, as people.yaml has them."""

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from cogni_acme.shape import choice, listing, mapping, read_yaml, text, texts, values
from cogni_domain.access.directory import Account, Tenant
from cogni_domain.access.grants import Grant, GrantCatalogue, Sensitivity
from cogni_domain.access.principal import Memberships, MembershipState, Principal, PrincipalKind
from cogni_domain.access.tokens import group_token
from cogni_domain.subscriptions import ADMINISTER_EVENTS
from cogni_kernel import GrantKey, HumanText, PrincipalId, TenantId

PEOPLE = Path(__file__).parent / "people.yaml"


@dataclass(frozen=True, slots=True)
class Company:
    """One tenant. `groups` maps each qualified group to what it is for."""

    tenant: Tenant
    groups: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Person:
    """One principal. `grants` are those given, without the implied ones."""

    account: Account
    title: str
    groups: frozenset[str]
    grants: frozenset[GrantKey]


@dataclass(frozen=True, slots=True)
class People:
    """Everybody, and what their groups and grants mean."""

    companies: tuple[Company, ...]
    grants: tuple[Grant, ...]
    people: tuple[Person, ...]

    def company(self, tenant: str) -> Company:
        """Return one tenant.

        Raises:
            ValueError: There is none of that id.
        """
        for company in self.companies:
            if company.tenant.id.value == tenant:
                return company
        raise ValueError(f"there is no company {tenant}")

    def person(self, person_id: str) -> Person:
        """Return one person; ids are unique over all tenants of the demo.

        Raises:
            ValueError: There is none of that id; names those that exist.
        """
        for person in self.people:
            if person.account.id.value == person_id:
                return person
        known = ", ".join(str(person.account.id) for person in self.people)
        raise ValueError(f"there is no {person_id}; there are {known}")

    def names(self, tenant: str) -> dict[str, str]:
        """Return what each person of a tenant is called, by id."""
        return {
            str(person.account.id): person.account.display_name
            for person in self.people
            if person.account.tenant_id.value == tenant
        }

    def principal(self, person_id: str) -> Principal:
        """Return a person as the product resolves one, implied grants included; raises as `person` does."""
        person = self.person(person_id)
        return Principal(
            id=person.account.id,
            tenant_id=person.account.tenant_id,
            kind=person.account.kind,
            grants=GrantCatalogue(self.grants).resolve_implied(person.grants),
            memberships=Memberships(person.groups, MembershipState.KNOWN, version=1),
            attributes=person.account.attributes,
            display_name=person.account.display_name,
        )


def load_people(path: Path = PEOPLE) -> People:
    """Read people.yaml.

    Raises:
        ValueError: An entry is wrong or names what is not declared; says which.
    """
    return parse_people(read_yaml(path))


def parse_people(data: object) -> People:
    """Check what people.yaml holds; raises as `load_people` does."""
    root = mapping(data, "people", frozenset({"tenants", "grants", "people"}))
    tenants = mapping(root.get("tenants"), "tenants")
    companies = {key: _company(key, value) for key, value in tenants.items()}
    own = tuple(_grant(entry) for entry in listing(root.get("grants"), "grants"))
    grants = (*own, ADMINISTER_EVENTS)
    people = tuple(_person(entry) for entry in listing(root.get("people"), "people"))
    _check_unique([str(grant.key) for grant in grants], "grants")
    _check_unique([str(person.account.id) for person in people], "people")
    declared = frozenset(grant.key for grant in grants)
    for grant in grants:
        _check_known(grant.implies, declared, f"grant {grant.key}")
    for person in people:
        where, tenant = f"person {person.account.id}", str(person.account.tenant_id)
        _check_known({tenant}, companies, where)
        _check_known(person.groups, companies[tenant].groups, where)
        _check_known(person.grants, declared, where)
    return People(tuple(companies.values()), grants, people)


def _company(key: str, value: object) -> Company:
    where = f"tenant {key}"
    found = mapping(value, where, frozenset({"name", "groups"}))
    groups = mapping(found.get("groups"), f"{where}, groups")
    for group in groups:
        group_token(group)
    purposes = {group: text(purpose, f"{where}, {group}") for group, purpose in groups.items()}
    return Company(Tenant(TenantId(key), text(found.get("name"), where)), purposes)


def _grant(value: object) -> Grant:
    keys = frozenset({"key", "name", "description", "sensitivity", "implies"})
    found = mapping(value, "grant", keys)
    key = text(found.get("key"), "grant, key")
    where = f"grant {key}"
    return Grant(
        GrantKey(key),
        HumanText(text(found.get("name"), where)),
        HumanText(text(found.get("description"), where)),
        frozenset(map(GrantKey, texts(found.get("implies", []), where))),
        Sensitivity(choice(found.get("sensitivity"), where, values(Sensitivity))),
    )


def _person(value: object) -> Person:
    keys = frozenset({"id", "tenant", "name", "title", "kind", "groups", "attributes", "grants"})
    found = mapping(value, "person", keys)
    person_id = text(found.get("id"), "person, id")
    where = f"person {person_id}"
    attributes = mapping(found.get("attributes", {}), f"{where}, attributes")
    account = Account(
        PrincipalId(person_id),
        TenantId(text(found.get("tenant"), where)),
        PrincipalKind(choice(found.get("kind"), where, values(PrincipalKind))),
        text(found.get("name"), where),
        {key: text(entry, f"{where}, {key}") for key, entry in attributes.items()},
    )
    return Person(
        account,
        text(found.get("title"), where),
        frozenset(texts(found.get("groups"), f"{where}, groups")),
        frozenset(map(GrantKey, texts(found.get("grants"), f"{where}, grants"))),
    )


def _check_unique(names: list[str], where: str) -> None:
    if len(set(names)) < len(names):
        raise ValueError(f"{where}: an entry appears twice")


def _check_known(names: Iterable[object], known: Container[object], where: str) -> None:
    for name in names:
        if name not in known:
            raise ValueError(f"{where}: {name} is not declared")
