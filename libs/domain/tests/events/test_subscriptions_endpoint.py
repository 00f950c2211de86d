import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogni_domain.subscriptions_endpoint import MAX_URL, Endpoint, EndpointPolicy, is_public

V4 = st.ip_addresses(v=4).map(ipaddress.IPv4Address)
NOT_PUBLIC = [
    *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16"),
    *("172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16"),
    *("198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4"),
]
"""The special-purpose registries of IANA, as far as they are not for the internet."""


@given(V4)
def test_an_address_is_public_where_no_registry_sets_it_apart(
    address: ipaddress.IPv4Address,
) -> None:
    apart = any(address in ipaddress.ip_network(network) for network in NOT_PUBLIC)

    assert is_public(address) is not apart


@given(st.sampled_from(NOT_PUBLIC).map(ipaddress.IPv4Network), st.integers(0, 2**32))
def test_no_address_of_such_a_network_is_public(network: ipaddress.IPv4Network, n: int) -> None:
    assert not is_public(network[n % network.num_addresses])


@given(V4)
def test_no_address_is_public_in_the_cloak_of_another(address: ipaddress.IPv4Address) -> None:
    n = int(address)
    cloaked = [
        ipaddress.IPv6Address(n),
        ipaddress.IPv6Address(0xFFFF << 32 | n),
        ipaddress.IPv6Address(0xFFFF << 48 | n),
        ipaddress.IPv6Address(0x64FF9B << 96 | n),
        ipaddress.IPv6Address(0x2002 << 112 | n << 80 | 1),
        ipaddress.IPv6Address(0x20010000 << 96 | (n ^ 0xFFFFFFFF)),
    ]

    assert not any(map(is_public, cloaked))


def test_public_ones_of_either_kind_are() -> None:
    assert is_public(ipaddress.ip_address("93.184.216.34"))
    assert is_public(ipaddress.ip_address("2606:2800:220:1::1"))


@given(st.text(max_size=60))
def test_an_endpoint_of_whatever_text_is_refused_or_sound(text: str) -> None:
    for url in (
        text,
        f"https://{text}/",
        f"https://example.com/{text}",
        f"https://{text}.example/",
    ):
        try:
            endpoint = Endpoint(url)
        except ValueError:
            continue
        assert url.isascii()
        assert endpoint.scheme in ("https", "http")
        assert endpoint.host
        assert not set(endpoint.host) & set("@/\\%#? ")


@pytest.mark.parametrize(
    ("url", "host", "origin"),
    [
        ("https://Hooks.Example:8443/A", "hooks.example", "https://hooks.example:8443"),
        ("https://93.184.216.34", "93.184.216.34", "https://93.184.216.34"),
        ("https://[2606:2800:220:1::1]:1/", "2606:2800:220:1::1", "https://[2606:2800:220:1::1]:1"),
    ],
)
def test_an_endpoint_knows_its_host_and_origin(url: str, host: str, origin: str) -> None:
    assert (Endpoint(url).host, Endpoint(url).origin) == (host, origin)


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("https://user@example.com/", "without a user"),
        ("https://example.com:0/", "port 0"),
        ("https://2130706433/", "usual form"),
        ("https://example.com:x/", "Port"),
        ("https://example.com/" + "a" * MAX_URL, "at most"),
    ],
)
def test_what_is_wrong_is_said(url: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Endpoint(url)


def test_this_machine_is_refused_by_name_and_by_address() -> None:
    policy = EndpointPolicy()

    assert policy.why_not(Endpoint("https://localhost/")) == "that is this very machine"
    assert policy.why_not(Endpoint("https://127.0.0.1/")) == "the address is not a public one"
    assert policy.why_not(Endpoint("http://example.com/")) is not None
    assert policy.why_not(Endpoint("https://example.com/")) is None


def test_this_machine_is_allowed_where_that_was_asked_for_and_nothing_else_inside() -> None:
    policy = EndpointPolicy(allow_loopback=True)

    assert policy.why_not(Endpoint("http://127.0.0.1:9/")) is None
    assert policy.why_not(Endpoint("http://localhost:9/")) is None
    assert policy.why_not(Endpoint("http://10.0.0.1/")) is not None
    assert policy.why_not(Endpoint("https://10.0.0.1/")) is not None
