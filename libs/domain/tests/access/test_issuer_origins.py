import pytest

from cogni_domain.access.directory import Issuer
from cogni_kernel import TenantId


def framed_by(*origins: str) -> Issuer:
    return Issuer(
        "k1", TenantId("acme"), "EdDSA", "a key", "https://host.example", "cogni", origins=origins
    )


@pytest.mark.parametrize(
    "origin",
    [
        "https://intranet.acme.example",
        "http://localhost:8081",
        "http://127.0.0.1:8081",
        "http://[::1]:8081",
    ],
)
def test_an_origin_is_a_scheme_a_host_and_perhaps_a_port(origin: str) -> None:
    assert framed_by(origin).origins == (origin,)


@pytest.mark.parametrize(
    "origin",
    [
        "",
        "*",
        "https://*",
        "https://*.acme.example",
        "https://acme.example/",
        "https://acme.example/path",
        "https://acme.example; script-src *",
        "https://acme.example https://evil.example",
        "https://acme.example\n",
        "HTTPS://acme.example",
        "acme.example",
        "'self'",
        "data:",
        "https://user@acme.example",
    ],
)
def test_what_could_mean_more_than_one_page_is_no_origin(origin: str) -> None:
    with pytest.raises(ValueError, match="an origin is"):
        framed_by(origin)
