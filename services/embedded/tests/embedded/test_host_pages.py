"""The demo company's intranet over HTTP: who it takes one for, and to whom it gives a token."""

import random
import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import httpx2
import pytest
from starlette.testclient import TestClient

from cogni_domain.access.directory import Account
from cogni_embedded.bootstrap import build
from cogni_embedded.host_pages import host_app, site_of
from cogni_kernel import Err, HumanText, NotFoundError, Ok, Result
from cogni_runtime.bindings import embedded

if TYPE_CHECKING:
    from tests.embedded.conftest import Running

pytestmark = pytest.mark.xdist_group("product")

PRODUCT = "http://127.0.0.1:8080"
HERE = ("127.0.0.1", 50000)
Site = Callable[..., TestClient]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """Return clients of the intranet; a token names its person in the clear."""
    demo = build(embedded(tmp_path_factory.mktemp("data"), {})).demo

    async def sign(account: Account) -> Result[str]:
        if str(account.id) == "support":
            return Err(NotFoundError(HumanText("The demo company is not there.")))
        return Ok(f"{account.tenant_id}/{account.id}")

    app = host_app(site_of(demo), PRODUCT, sign)

    def client(host: str = "http://127.0.0.1:8081", peer: tuple[str, int] = HERE) -> TestClient:
        return TestClient(app, host, client=peer, follow_redirects=False)

    return client


@pytest.mark.parametrize("path", ["/", "/people", "/handbook", "/requests", "/time-off"])
def test_a_page_allows_the_product_and_its_own_scripts_alone(site: Site, path: str) -> None:
    answer = site().get(path)

    policy = answer.headers["content-security-policy"]
    nonce = policy.partition("'nonce-")[2].partition("'")[0]
    assert answer.status_code == 200
    assert f"frame-src {PRODUCT};" in policy
    assert "unsafe" not in policy
    assert answer.text.count(f'nonce="{nonce}"') == answer.text.count("<script") == 2
    assert answer.headers["cache-control"] == "no-store"


def test_no_nonce_is_used_twice(site: Site) -> None:
    first, second = (site().get("/").headers["content-security-policy"] for _ in "ab")

    assert first != second


def test_the_style_is_served(site: Site) -> None:
    answer = site().get("/site.css")

    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/css")


def test_the_picker_switches_the_person_and_goes_back(site: Site) -> None:
    with site() as client:
        switched = client.post("/person", data={"person": "contractor", "next": "/time-off"})
        page = client.get("/time-off").text
        token = client.get("/host-token").text

    assert (switched.status_code, switched.headers["location"]) == (303, "/time-off")
    assert "httponly" in switched.headers["set-cookie"].lower()
    assert '<option value="contractor" selected>' in page
    assert token == "acme/contractor"


@pytest.mark.parametrize(
    "target",
    [
        "//evil.example",
        "https://evil.example",
        "/\\evil.example",
        "javascript:alert(1)",
        "",
        "/a\r\nb",
    ],
)
def test_the_picker_leads_nowhere_else(site: Site, target: str) -> None:
    switched = site().post("/person", data={"person": "hr-lead", "next": target})

    assert switched.headers["location"] == "/"


@pytest.mark.parametrize("body", [b"", b"\xff\xfe=%", b"person=" + b"x" * 100_000, b"person=root"])
def test_a_form_that_is_none_changes_to_the_first_visitor(site: Site, body: bytes) -> None:
    switched = site().post("/person", content=body)

    assert switched.status_code == 303
    assert switched.headers["set-cookie"].startswith("person=engineer;")


@pytest.mark.parametrize("junk", ["", "nobody", "a=b; person", '"', "../../etc", "%00", "x" * 4000])
def test_a_cookie_that_is_junk_is_the_first_visitor(site: Site, junk: str) -> None:
    headers = {"Cookie": f"person={junk}"}

    assert site().get("/", headers=headers).status_code == 200
    assert site().get("/host-token", headers=headers).text == "acme/engineer"


def test_a_person_of_another_company_gets_that_company(site: Site) -> None:
    headers = {"Cookie": "person=outsider"}

    assert "Globex Foods" in site().get("/", headers=headers).text.partition("<title>")[2][:40]
    assert site().get("/host-token", headers=headers).text == "globex/outsider"


@pytest.mark.parametrize("path", ["/", "/host-token", "/site.css"])
@pytest.mark.parametrize(
    ("host", "peer"),
    [
        ("http://127.0.0.1:8081", ("192.0.2.7", 50000)),
        ("http://127.0.0.1:8081", ("::ffff:192.0.2.7", 50000)),
        ("http://evil.example:8081", HERE),
        ("http://127.0.0.1.evil.example:8081", HERE),
    ],
    ids=[
        "from elsewhere",
        "from elsewhere, mapped",
        "a stranger's name",
        "a name that looks local",
    ],
)
def test_nothing_is_served_beyond_this_machine(
    site: Site, path: str, host: str, peer: tuple[str, int]
) -> None:
    assert site(host, peer).get(path).status_code == 403


@pytest.mark.parametrize("host", ["http://localhost:8081", "http://[::1]:8081"])
def test_this_machine_is_served_by_each_of_its_names(site: Site, host: str) -> None:
    assert site(host, ("::1", 50000)).get("/host-token").text == "acme/engineer"


@pytest.mark.parametrize("origin", ["cross-site", "same-site"])
def test_no_other_site_gets_a_token(site: Site, origin: str) -> None:
    answer = site().get("/host-token", headers={"Sec-Fetch-Site": origin})

    assert answer.status_code == 403
    assert "engineer" not in answer.text


def test_a_token_that_cannot_be_made_is_an_error_that_says_why(site: Site) -> None:
    answer = site().get("/host-token", headers={"Cookie": "person=support"})

    assert (answer.status_code, answer.text) == (503, "The demo company is not there.")


def pair_of_ports() -> int:
    """Return a free port whose next one is free too, from where no outgoing connection takes its own."""
    for port in random.SystemRandom().sample(range(20_000, 32_000), 50):
        with socket.socket() as first, socket.socket() as second:
            try:
                first.bind(("127.0.0.1", port))
                second.bind(("127.0.0.1", port + 1))
            except OSError:
                continue
            return port
    raise AssertionError("no two free ports in a row")


def test_the_product_takes_the_intranets_token_and_both_end_together(
    start: "Callable[..., Running]", data: Path
) -> None:
    alone = start(data, port=pair_of_ports()).until_ready()
    intranet = f"http://127.0.0.1:{alone.port + 1}"

    page = httpx2.get(intranet, trust_env=False)
    token = httpx2.get(
        f"{intranet}/host-token", headers={"Cookie": "person=hr-lead"}, trust_env=False
    ).text
    with alone.client(token) as client:
        own = client.get("/v1/conversations")

    assert f'src="{alone.url}/mount.js"' in page.text
    assert own.status_code == 200
    assert f"The demo intranet is at {intranet}" in alone.said
    assert alone.end() == 0
    with pytest.raises(httpx2.TransportError):
        httpx2.get(intranet, trust_env=False)


def test_a_taken_port_is_said_and_the_product_goes_on(
    start: "Callable[..., Running]", data: Path
) -> None:
    port = pair_of_ports()
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", port + 1))
        taken.listen()
        running = start(data, port=port).until_ready()

        assert f"The demo intranet is not started: port {port + 1} is not free." in running.said
        with running.client() as client:
            assert client.get("/healthz").status_code == 200


def test_a_product_for_other_machines_starts_no_intranet(
    start: "Callable[..., Running]", data: Path
) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
        except OSError:
            pytest.skip("this machine has no address but its own")
        host = probe.getsockname()[0]
    running = start(data, port=pair_of_ports(), more=("--host", host))

    assert wait_for(running, "it stays on loopback")


def wait_for(running: "Running", text: str) -> bool:
    """Tell whether a text is said within the time that a product has to get ready."""
    until = time.monotonic() + 180
    while time.monotonic() < until and text not in running.said:
        time.sleep(0.05)
    return text in running.said
