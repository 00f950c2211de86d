"""What a browser loads before anybody is known."""

import gzip
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from cogni_domain.access.directory import Tenant
from cogni_kernel import TenantId
from cogni_surfaces import web_asset, web_frame
from cogni_testing import ok

if TYPE_CHECKING:
    from tests.edge.conftest import World

HOST = "https://intranet.acme.example"


@pytest.fixture
async def framed(world: "World") -> "World":
    ok(await world.directory.put_issuer(replace(world.issuers["acme"], origins=(HOST,))))
    return world


async def test_the_frame_may_be_held_by_the_pages_of_its_key_alone(framed: "World") -> None:
    answer = await framed.call("GET", "/surface/key-acme?surface_id=chat&placement=docked", None)

    assert answer.status_code == 200
    policy = answer.headers["content-security-policy"].split("; ")
    assert policy[0] == "default-src 'none'"
    assert policy[-1] == f"frame-ancestors {HOST}"
    assert not [part for part in policy if "unsafe" in part or "*" in part or "data:" in part]
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert "camera=()" in answer.headers["permissions-policy"]
    assert "x-frame-options" not in answer.headers
    assert answer.headers["content-type"] == "text/html; charset=utf-8"


async def test_a_key_without_origins_can_be_framed_by_nobody(framed: "World") -> None:
    answer = await framed.call("GET", "/surface/key-globex", None)

    assert answer.headers["content-security-policy"].endswith("frame-ancestors 'none'")


async def test_nothing_of_a_tenant_is_in_the_frame(framed: "World") -> None:
    one = await framed.call("GET", "/surface/key-acme", None)
    other = await framed.call("GET", "/surface/key-globex", None)

    file = web_frame()
    assert file is not None
    assert one.content == other.content == file.data


@pytest.mark.parametrize(
    "path",
    [
        "/surface/key-nobody",
        "/surface/key-closed",
        "/surface/key-acme?surface_id=nothing",
        "/surface/key-acme?surface_id=terminal",
        "/surface/assets/nothing.js",
        "/surface/assets/surface.html",
        "/surface/assets/..%2F__init__.py",
        "/surface/assets/%2e%2e%2fbase.py",
    ],
)
async def test_what_is_not_there_is_not_found(framed: "World", path: str) -> None:
    assert (await framed.call("GET", path, None)).status_code == 404


async def test_a_surface_that_a_tenant_switched_off_is_gone_at_once(framed: "World") -> None:
    ok(
        await framed.directory.put_tenant(
            Tenant(TenantId("acme"), "acme", surfaces_off=frozenset({"chat"}))
        )
    )

    assert (await framed.call("GET", "/surface/key-acme", None)).status_code == 404
    assert (await framed.call("GET", "/v1/surface")).status_code == 404
    asked = await framed.call("POST", "/v1/turns", json={"message": "How much leave?"})
    assert asked.status_code == 404
    assert framed.model.asked == 0
    assert (await framed.call("GET", "/surface/key-globex", None)).status_code == 200


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("grants=all", "grants"),
        ("scope=everything", "scope"),
        ("tools=send_mail", "tools"),
        ("principal=alice", "principal"),
        ("record=%7B%7D", "record"),
        ("principal_token=abc", "principal_token"),
        ("placement=everywhere", "placement"),
        ("surface_id=chat&colour=red", "colour"),
    ],
)
async def test_an_address_that_says_more_than_a_host_may_is_told_why(
    framed: "World", query: str, field: str
) -> None:
    answer = await framed.call("GET", f"/surface/key-acme?{query}", None)

    assert answer.status_code == 422
    assert answer.json()["field"] == field
    assert len(answer.json()["title"]) > 20


async def test_a_file_is_sent_packed_and_once(framed: "World") -> None:
    plain = await framed.call(
        "GET", "/surface/assets/surface.css", None, headers={"Accept-Encoding": "identity"}
    )
    async with framed.client() as client:
        packed = await client.get(
            "/surface/assets/surface.css", headers={"Accept-Encoding": "gzip"}
        )
    again = await framed.call(
        "GET",
        "/surface/assets/surface.css",
        None,
        headers={"If-None-Match": plain.headers["etag"]},
    )

    file = web_asset("surface.css")
    assert file is not None
    assert plain.content == packed.content == gzip.decompress(file.zipped) == file.data
    assert packed.headers["content-encoding"] == "gzip"
    assert (again.status_code, again.content) == (304, b"")
    assert plain.headers["content-type"] == "text/css; charset=utf-8"


async def test_a_host_names_identity_in_a_question_and_never_authority(world: "World") -> None:
    for name in ("grants", "scope", "tools", "record"):
        answer = await world.call("POST", "/v1/turns", json={"message": "Hello?", name: ["all"]})

        assert answer.status_code == 422
        assert answer.json()["field"] == name
        assert "not accepted" in answer.json()["title"]
