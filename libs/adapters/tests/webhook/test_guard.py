"""No hostile address is ever connected to."""

import asyncio
import ipaddress
import socket
from collections.abc import Iterable, Sequence

import httpcore2
import pytest

from cogni_adapters.webhook.guard import BlockedError, GuardedNetwork, resolve
from cogni_adapters.webhook.sink import WebhookSinkAdapter
from cogni_domain.events_outgoing import NotDelivered
from cogni_domain.subscriptions_endpoint import Address, Endpoint, EndpointPolicy
from cogni_testing.contracts.event_sink import a_message
from tests.servers.endpoints import Answer, Endpoints

HOSTS = [
    # this machine, in every spelling
    *("127.0.0.1", "127.1", "127.0.1", "127.255.255.254", "0.0.0.0", "0", "2130706433"),
    *("0x7f000001", "0x7f.0.0.1", "0x7f.1", "017700000001", "0177.0.0.1", "0177.1", "127.0.0.1."),
    *("127.000.000.001", "00127.0.0.1", "[::1]", "[::]", "[0:0:0:0:0:0:0:1]", "[::ffff:127.0.0.1]"),
    *("[::ffff:7f00:1]", "[::127.0.0.1]", "[::ffff:0:127.0.0.1]", "[64:ff9b::7f00:1]"),
    *("[64:ff9b:1::7f00:1]", "[2002:7f00:1::]", "[2001:0:0:0:0:0:80ff:fffe]", "localhost"),
    *("LOCALHOST", "localhost.", "LocalHost", "localhost6", "ip6-localhost", "[::1%25lo]"),
    # metadata of clouds, link-local
    *("169.254.169.254", "169.254.170.2", "2852039166", "0xa9fea9fe", "0251.0376.0251.0376"),
    *("[::ffff:169.254.169.254]", "[::ffff:a9fe:a9fe]", "[fd00:ec2::254]", "[fe80::1]"),
    *("[fe80::1%25eth0]", "[2002:a9fe:a9fe::]", "[64:ff9b::a9fe:a9fe]", "100.100.100.200"),
    # inside networks
    *("10.0.0.1", "10.255.255.255", "172.16.0.1", "172.31.255.255", "192.168.0.1", "192.168.1.1"),
    *("100.64.0.1", "100.127.255.255", "[fc00::1]", "[fd12:3456::1]", "[fec0::1]"),
    *("[::ffff:10.0.0.1]", "[::ffff:192.168.0.1]", "[2002:c0a8:1::]", "167772161", "0x0a000001"),
    # for nobody, for many, for tests, for later
    *("255.255.255.255", "224.0.0.1", "239.255.255.250", "240.0.0.1", "192.0.0.1", "192.0.2.1"),
    *("192.0.0.170", "192.88.99.1", "198.18.0.1", "198.19.255.255", "198.51.100.1", "203.0.113.1"),
    *(
        "[ff02::1]",
        "[ff0e::1]",
        "[2001:db8::1]",
        "[100::1]",
        "[2001:10::1]",
        "[3fff::1]",
        "[5f00::1]",
    ),
    # other alphabets and other signs
    *("\u24db\u24de\u24d2\u24d0\u24db\u24d7\u24de\u24e2\u24e3", "\uff11\uff12\uff17.0.0.1"),
    *(
        "127\u30020\u30020\u30021",
        "\u2460\u2461\u2466.0.0.1",
        "localho\u017ft",
        "\u0661\u0662\u0667.0.0.1",
    ),
    *("%6c%6f%63%61%6c%68%6f%73%74", "127.0.0.1%00.example.com", "example.com%2f@127.0.0.1"),
    *(
        "user@127.0.0.1",
        "user:pass@example.com",
        "example.com@127.0.0.1",
        "127.0.0.1\\@example.com",
    ),
    *("example.com#@127.0.0.1", "127.0.0.1#.example.com", "127.0.0.1?.example.com", ""),
    *("exa mple.com", "example.com\r\nhost: inside", "example.com\t", "[127.0.0.1]", "[::1", "::1"),
    *("..", ".", "-.example", "a..b", "example.com:0", "example.com:99999", "example.com:http"),
]
"""What stands between `https://` and `/`."""

URLS = [
    *("file:///etc/passwd", "gopher://127.0.0.1:70/", "ftp://example.com/", "data:text/plain,x"),
    *("javascript:1", "//127.0.0.1/", "/etc/passwd", "https:127.0.0.1", "https:/127.0.0.1/", ""),
    *(
        "http://example.com/",
        "HTTP://example.com/",
        "http\u017f://example.com/",
        "ws://example.com/",
    ),
    *(
        "https://example.com/?next=http://127.0.0.1",
        "https://example.com/#x",
        " https://example.com/",
    ),
    *("https://example.com/\n", "https://example.com/\x00", "https://" + "a" * 600 + ".example/"),
    *(
        "unix:///var/run/docker.sock",
        "https+unix://x/",
        "dict://127.0.0.1:11211/",
        "ldap://127.0.0.1/",
    ),
]

NAMES = {
    "loopback.example": ["127.0.0.1"],
    "loopback6.example": ["::1"],
    "mixed.example": ["93.184.216.34", "127.0.0.1"],
    "mixed6.example": ["2606:2800:220:1::1", "::1"],
    "mapped.example": ["::ffff:127.0.0.1"],
    "metadata.example": ["169.254.169.254"],
    "inside.example": ["10.1.2.3"],
    "127.0.0.1.nip.example": ["127.0.0.1"],
    "xn--lcalhost-54a.example": ["127.0.0.1"],
    "xn--n3h.example": ["192.168.0.10"],
    "metadata": ["169.254.169.254"],
    "kafka": ["172.18.0.4"],
    "many.example": ["224.0.0.1"],
    "sixtofour.example": ["2002:7f00:1::"],
    "zero.example": ["0.0.0.0"],
    "zone.example": ["fe80::1"],
}
"""Names that those who own them let resolve to something inside."""


class NoNetwork(httpcore2.AsyncNetworkBackend):
    """Connects to nothing, and says where it should have."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        self.asked.append(host)
        raise httpcore2.ConnectError("there is no network here")

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


def lying(addresses: dict[str, list[str]]) -> "Resolving":
    return Resolving({name: [found] for name, found in addresses.items()})


class Resolving:
    """A name server that gives one answer after the other, then the last again."""

    def __init__(self, answers: dict[str, list[list[str]]]) -> None:
        self.answers = answers
        self.asked: list[str] = []

    async def __call__(self, host: str, port: int) -> Sequence[Address]:
        self.asked.append(host)
        if host not in self.answers:
            raise OSError("no such name")
        waiting = self.answers[host]
        found = waiting.pop(0) if len(waiting) > 1 else waiting[0]
        return list(map(ipaddress.ip_address, found))


def test_there_are_enough_of_them() -> None:
    assert len(HOSTS) + len(URLS) + len(NAMES) >= 120


async def try_to_reach(url: str, resolving: Resolving, policy: EndpointPolicy) -> list[str]:
    """Go as far as a subscription would; return the addresses that were connected to."""
    try:
        endpoint = Endpoint(url)
    except ValueError:
        return []
    if policy.why_not(endpoint) is not None:
        return []
    inner = NoNetwork()
    guarded = GuardedNetwork(policy, inner, resolving)
    with pytest.raises((BlockedError, httpcore2.ConnectError)):
        await guarded.connect_tcp(endpoint.host, 443)
    return inner.asked


@pytest.mark.parametrize("url", [f"https://{host}/" for host in HOSTS] + URLS)
async def test_a_hostile_address_is_not_connected_to(url: str) -> None:
    assert await try_to_reach(url, lying({}), EndpointPolicy()) == []


@pytest.mark.parametrize("name", NAMES)
async def test_a_name_that_leads_inside_is_not_connected_to(name: str) -> None:
    assert await try_to_reach(f"https://{name}/", lying(NAMES), EndpointPolicy()) == []


@pytest.mark.parametrize(
    "url",
    [
        "https://hooks.example.com/in",
        "https://hooks.example.com:8443/a/b;c=1",
        "https://xn--bcher-kva.example/",
        "https://93.184.216.34/",
        "https://[2606:2800:220:1::1]/",
        "HTTPS://Hooks.Example.COM/",
        "https://_dmarc.example.com/",
    ],
)
async def test_a_public_one_is(url: str) -> None:
    public = {"93.184.216.34", "2606:2800:220:1::1"}
    hosts = ("hooks.example.com", "xn--bcher-kva.example", "_dmarc.example.com")
    names = {host: ["93.184.216.34"] for host in hosts}

    asked = await try_to_reach(url, lying(names), EndpointPolicy())

    assert len(asked) == 1
    assert set(asked) <= public


async def test_the_address_that_was_looked_at_is_the_one_connected_to() -> None:
    rebinding = Resolving({"hooks.example": [["93.184.216.34"], ["127.0.0.1"]]})
    inner = NoNetwork()
    guarded = GuardedNetwork(EndpointPolicy(), inner, rebinding)

    with pytest.raises(httpcore2.ConnectError):
        await guarded.connect_tcp("hooks.example", 443)
    assert (inner.asked, rebinding.asked) == (["93.184.216.34"], ["hooks.example"])

    with pytest.raises(BlockedError):
        await guarded.connect_tcp("hooks.example", 443)
    assert inner.asked == ["93.184.216.34"]


async def test_the_next_address_is_tried_where_one_does_not_answer() -> None:
    inner = NoNetwork()
    both = lying({"hooks.example": ["93.184.216.34", "2606:2800:220:1::1", "93.184.216.34"]})

    with pytest.raises(httpcore2.ConnectError):
        await GuardedNetwork(EndpointPolicy(), inner, both).connect_tcp("hooks.example", 443)

    assert inner.asked == ["93.184.216.34", "2606:2800:220:1::1"]


async def test_without_the_setting_this_machine_hears_nothing(outside: Endpoints) -> None:
    """On real sockets, with the machine's own resolver."""
    sink = WebhookSinkAdapter(EndpointPolicy())
    own = {socket.gethostname(), "127.0.0.1", "localhost", "127.0.0.1.", "[::1]", "ip6-localhost"}
    outside.answering(Answer())

    for host in own:
        for scheme in ("https", "http"):
            try:
                endpoint = Endpoint(f"{scheme}://{host}:{outside.port}/0")
            except ValueError:
                continue
            outcome = await sink.deliver(endpoint, a_message())
            assert isinstance(outcome, NotDelivered)
            assert outcome.reason.startswith(("blocked", "not reached"))
    await sink.close()

    assert outside.connections == 0


async def test_a_name_that_is_none_is_an_error_of_the_resolver() -> None:
    with pytest.raises(OSError, match="name"):
        await resolve("a" * 70 + ".example", 443)


async def test_with_the_setting_only_this_machine_is_allowed_without_tls() -> None:
    here = EndpointPolicy(allow_loopback=True)

    assert here.why_not(Endpoint("http://127.0.0.1:9/")) is None
    assert here.why_not(Endpoint("http://localhost:9/")) is None
    assert here.why_not(Endpoint("http://[::1]:9/")) is None
    assert here.why_not(Endpoint("http://10.0.0.1/")) is not None
    assert here.why_not(Endpoint("https://10.0.0.1/")) is not None
    assert here.why_not(Endpoint("http://hooks.example/")) is not None
    assert await try_to_reach("https://inside.example/", lying(NAMES), here) == []
