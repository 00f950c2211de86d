import ipaddress
import socket
import ssl
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from standardwebhooks import Webhook, WebhookVerificationError

from cogni_adapters.webhook import sink as sink_module
from cogni_adapters.webhook.sink import WebhookSinkAdapter
from cogni_domain.events_outgoing import Delivered, NotDelivered, WebhookMessage
from cogni_domain.ports.event_sink import EventSinkPort
from cogni_domain.subscriptions_endpoint import Address, Endpoint, EndpointPolicy
from cogni_testing.contracts.event_sink import SECRET, EventSinkContract, a_message
from tests.servers.endpoints import Answer, Endpoints, endpoints

OTHER_SECRET = "whsec_" + "b3RoZXIgb3RoZXIgb3RoZXIgb3RoZXIgb3RoZXI="
HERE = EndpointPolicy(allow_loopback=True)


@pytest.fixture
async def sink() -> AsyncIterator[WebhookSinkAdapter]:
    made = WebhookSinkAdapter(HERE)
    yield made
    await made.close()


class TestWebhookSink(EventSinkContract):
    @pytest.fixture(autouse=True)
    def _open(self, outside: Endpoints, sink: WebhookSinkAdapter) -> None:
        self.outside = outside
        self.sink = sink

    def make_sink(self) -> EventSinkPort:
        return self.sink

    def endpoint(self, status: int, headers: Mapping[str, str]) -> Endpoint:
        return Endpoint(self.outside.answering(Answer(status, headers)))

    def nobody(self) -> Endpoint:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            return Endpoint(f"http://127.0.0.1:{probe.getsockname()[1]}/")

    def received(self) -> list[bytes]:
        return [request.body for request in self.outside.received]


async def sent(
    outside: Endpoints, sink: WebhookSinkAdapter, message: WebhookMessage
) -> tuple[dict[str, str], bytes]:
    outcome = await sink.deliver(Endpoint(outside.answering(Answer())), message)
    assert outcome == Delivered(200)
    return dict(outside.received[-1].headers), outside.received[-1].body


async def test_the_public_library_verifies_what_is_sent(
    outside: Endpoints, sink: WebhookSinkAdapter
) -> None:
    headers, body = await sent(outside, sink, a_message())

    assert Webhook(SECRET).verify(body, headers)["id"] == "e1"
    assert headers["webhook-id"] == "e1"
    assert headers["content-type"] == "application/cloudevents+json"


async def test_either_of_two_secrets_verifies(outside: Endpoints, sink: WebhookSinkAdapter) -> None:
    message = WebhookMessage("e1", "{}", datetime.now(UTC), (OTHER_SECRET, SECRET))

    headers, body = await sent(outside, sink, message)

    for secret in (SECRET, OTHER_SECRET):
        Webhook(secret).verify(body, headers)


async def test_nothing_that_was_changed_verifies(
    outside: Endpoints, sink: WebhookSinkAdapter
) -> None:
    headers, body = await sent(outside, sink, a_message())
    old = str(int(headers["webhook-timestamp"]) - 301)
    tampered = [
        (headers, body + b" "),
        ({**headers, "webhook-id": "e2"}, body),
        ({**headers, "webhook-timestamp": old}, body),
        (
            {**headers, "webhook-signature": headers["webhook-signature"].replace("v1,", "v2,")},
            body,
        ),
    ]

    for changed, text in tampered:
        with pytest.raises(WebhookVerificationError):
            Webhook(SECRET).verify(text, changed)
    with pytest.raises(WebhookVerificationError):
        Webhook(OTHER_SECRET).verify(body, headers)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("0", timedelta()),
        ("30", timedelta(seconds=30)),
        ("Mon, 02 Mar 2026 09:01:00 GMT", timedelta(minutes=1)),
        ("Mon, 02 Mar 2026 08:00:00 GMT", timedelta()),
        ("soon", None),
        ("", None),
        ("-5", None),
        ("9" * 400, timedelta(seconds=999_999_999)),
    ],
)
async def test_retry_after_is_seconds_or_a_date(
    outside: Endpoints, sink: WebhookSinkAdapter, given: str, expected: timedelta | None
) -> None:
    url = outside.answering(Answer(503, {"Retry-After": given}))
    message = WebhookMessage("e1", "{}", datetime(2026, 3, 2, 9, 0, tzinfo=UTC), (SECRET,))

    assert await sink.deliver(Endpoint(url), message) == NotDelivered("answered 503", expected)


@pytest.mark.parametrize(
    "answer",
    [
        Answer(after_s=30),
        Answer(body=b"x" * 100, drip_s=0.05),
        Answer(reset=True),
        Answer(headers={"x": "y" * 200_000}),
        Answer(headers={"content-length": "-1"}),
    ],
    ids=["hangs", "drips", "resets", "endless headers", "bad length"],
)
async def test_whatever_an_endpoint_does_is_an_outcome(
    outside: Endpoints, sink: WebhookSinkAdapter, answer: Answer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sink_module, "TIMEOUT_S", 0.3)

    outcome = await sink.deliver(Endpoint(outside.answering(answer)), a_message())

    assert isinstance(outcome, NotDelivered)


async def test_a_huge_reply_is_not_read_to_its_end(
    outside: Endpoints, sink: WebhookSinkAdapter
) -> None:
    url = outside.answering(Answer(body=b"x" * (8 * 2**20)))

    assert await sink.deliver(Endpoint(url), a_message()) == Delivered(200)
    assert await sink.deliver(Endpoint(url), a_message()) == Delivered(200)


async def test_a_connection_is_used_again(outside: Endpoints, sink: WebhookSinkAdapter) -> None:
    url = outside.answering(Answer())

    for _ in range(5):
        assert await sink.deliver(Endpoint(url), a_message()) == Delivered(200)

    assert outside.connections == 1


def certificate_for(name: str, folder: Path) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """Return what a server of that name shows, and what a client believes."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    public = made.public_bytes(serialization.Encoding.PEM)
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    file = folder / "server.pem"
    file.write_bytes(private + public)
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(file)
    return server, ssl.create_default_context(cadata=public.decode())


async def here(_: str, port: int) -> Sequence[Address]:
    return [ipaddress.ip_address("127.0.0.1")]


@pytest.mark.parametrize(
    ("certified", "expected"),
    [
        ("hooks.example", Delivered(200)),
        ("other.example", NotDelivered("not reached: ConnectError")),
    ],
)
async def test_the_certificate_is_the_names_though_the_address_is_pinned(
    tmp_path: Path, certified: str, expected: object
) -> None:
    server, trusted = certificate_for(certified, tmp_path)
    sink = WebhookSinkAdapter(HERE, trusted, here)

    async with endpoints(server) as outside:
        url = outside.answering(Answer(), "hooks.example")
        outcome = await sink.deliver(Endpoint(url), a_message())
        await sink.close()

    assert outcome == expected
