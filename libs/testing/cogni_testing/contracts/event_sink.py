"""What every `EventSinkPort` promises."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

import pytest

from cogni_domain.events_outgoing import Delivered, EndpointGone, NotDelivered, WebhookMessage
from cogni_domain.ports.event_sink import EventSinkPort
from cogni_domain.subscriptions_endpoint import Endpoint

SECRET = "whsec_c2VjcmV0IHNlY3JldCBzZWNyZXQgc2VjcmV0IHM="  # noqa: S105 - a secret of tests alone
BODY = '{"id":"e1","data":{}}'


def a_message() -> WebhookMessage:
    """Return what an attempt of this moment sends."""
    return WebhookMessage("e1", BODY, datetime.now(UTC), (SECRET,))


class EventSinkContract(ABC):
    """One attempt: what the endpoint gets, and what its answer means."""

    @abstractmethod
    def make_sink(self) -> EventSinkPort:
        """Return a sink that may reach the endpoints below."""

    @abstractmethod
    def endpoint(self, status: int, headers: Mapping[str, str]) -> Endpoint:
        """Return an endpoint that always answers so."""

    @abstractmethod
    def nobody(self) -> Endpoint:
        """Return an endpoint where nobody listens."""

    @abstractmethod
    def received(self) -> list[bytes]:
        """Return the bodies that endpoints got."""

    @pytest.mark.parametrize("status", [200, 202, 204])
    async def test_a_good_answer_is_a_delivery(self, status: int) -> None:
        outcome = await self.make_sink().deliver(self.endpoint(status, {}), a_message())

        assert outcome == Delivered(status)
        assert self.received() == [BODY.encode()]

    @pytest.mark.parametrize("status", [301, 302, 307, 308])
    async def test_a_redirect_is_not_followed(self, status: int) -> None:
        elsewhere = self.endpoint(200, {})
        redirecting = self.endpoint(status, {"location": elsewhere.url})

        outcome = await self.make_sink().deliver(redirecting, a_message())

        assert outcome == NotDelivered(f"answered {status}")
        assert len(self.received()) == 1

    @pytest.mark.parametrize("status", [400, 401, 404, 429, 500, 502, 504])
    async def test_any_other_answer_is_none(self, status: int) -> None:
        outcome = await self.make_sink().deliver(self.endpoint(status, {}), a_message())

        assert outcome == NotDelivered(f"answered {status}")

    async def test_gone_is_gone(self) -> None:
        outcome = await self.make_sink().deliver(self.endpoint(410, {}), a_message())

        assert outcome == EndpointGone()

    async def test_what_an_endpoint_asks_for_is_passed_on(self) -> None:
        endpoint = self.endpoint(429, {"retry-after": "120"})

        outcome = await self.make_sink().deliver(endpoint, a_message())

        assert outcome == NotDelivered("answered 429", timedelta(seconds=120))

    async def test_where_it_may_send_it_says_so(self) -> None:
        assert self.make_sink().why_not(self.endpoint(200, {})) is None
        assert self.make_sink().why_not(Endpoint("https://169.254.169.254/")) is not None

    async def test_where_nobody_listens_nothing_is_delivered(self) -> None:
        outcome = await self.make_sink().deliver(self.nobody(), a_message())

        assert isinstance(outcome, NotDelivered)
