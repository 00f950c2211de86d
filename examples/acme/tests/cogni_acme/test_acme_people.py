"""Who there is, and what a wrong entry is told."""

from typing import Any

import pytest

from cogni_acme.people import load_people, parse_people
from cogni_kernel import GrantKey, PrincipalId


def test_the_eight_principals_are_there() -> None:
    people = load_people()

    assert {str(person.account.id) for person in people.people} == {
        "hr-lead",
        "engineer",
        "contractor",
        "finance-lead",
        "new-hire",
        "support",
        "administrator",
        "outsider",
    }


def test_acme_has_six_groups_and_each_has_a_member() -> None:
    people = load_people()
    acme = [p for p in people.people if p.account.tenant_id.value == "acme"]

    groups = set(people.company("acme").groups)

    assert len(groups) == 6
    assert groups == {group for person in acme for group in person.groups}


def test_the_outsider_is_of_another_tenant_with_a_group_of_the_same_name() -> None:
    outsider = load_people().person("outsider")

    assert outsider.account.tenant_id.value == "globex"
    assert "directory/employees" in outsider.groups


def test_a_principal_holds_what_its_grants_imply() -> None:
    principal = load_people().principal("contractor")

    assert principal.has_grant(GrantKey("handbook.search"))
    assert not principal.has_grant(GrantKey("timeoff.request"))


def test_only_the_administrator_administers() -> None:
    people = load_people()

    administrators = [
        person.account.id
        for person in people.people
        if people.principal(str(person.account.id)).has_grant(GrantKey("assistant.administer"))
    ]

    assert administrators == [PrincipalId("administrator")]


def test_an_unknown_person_is_named_with_those_that_exist() -> None:
    with pytest.raises(ValueError, match=r"there is no nobody; there are hr-lead, "):
        load_people().person("nobody")


def test_an_unknown_company_is_refused() -> None:
    with pytest.raises(ValueError, match="there is no company initech"):
        load_people().company("initech")


def _data() -> dict[str, Any]:
    return {
        "tenants": {"acme": {"name": "Acme", "groups": {"directory/hr": "People"}}},
        "grants": [
            {"key": "a", "name": "A", "description": "Does a.", "sensitivity": "ordinary"},
        ],
        "people": [
            {
                "id": "ann",
                "tenant": "acme",
                "name": "Ann",
                "title": "Clerk",
                "kind": "human",
                "groups": ["directory/hr"],
                "grants": ["a"],
            }
        ],
    }


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("groups", ["directory/it"], "person ann: directory/it is not declared"),
        ("grants", ["b"], "person ann: b is not declared"),
        ("tenant", "globex", "person ann: globex is not declared"),
        ("kind", "robot", "person ann: robot is not one of delegated, human, machine"),
        ("name", " ", "person ann: expected text"),
        ("group", [], "person: unknown group"),
        ("groups", ["directory/hr", "directory/hr"], "person ann, groups: an entry appears twice"),
        ("groups", "directory/hr", "person ann, groups: expected a list"),
    ],
)
def test_a_wrong_person_is_refused_by_name(field: str, value: object, message: str) -> None:
    data = _data()
    data["people"][0][field] = value

    with pytest.raises(ValueError, match=message):
        parse_people(data)


def test_two_people_of_one_id_are_refused() -> None:
    data = _data()
    data["people"] *= 2

    with pytest.raises(ValueError, match="people: an entry appears twice"):
        parse_people(data)


def test_a_group_without_its_authority_is_refused() -> None:
    data = _data()
    data["tenants"]["acme"]["groups"] = {"hr": "People"}

    with pytest.raises(ValueError, match="qualified by its authority"):
        parse_people(data)


def test_an_implied_grant_must_be_declared() -> None:
    data = _data()
    data["grants"][0]["implies"] = ["c"]

    with pytest.raises(ValueError, match="grant a: c is not declared"):
        parse_people(data)
