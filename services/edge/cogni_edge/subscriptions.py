"""Deciding over HTTP who is told of events: one administrator asks, another confirms."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from cogni_application.events.subscribing import Asked, SubscriptionService
from cogni_domain.access.principal import Principal
from cogni_domain.events_outgoing import DeadDelivery
from cogni_domain.subscriptions import Subscription
from cogni_edge.answering import Answering
from cogni_edge.requests import idempotency_key_of, read_body
from cogni_edge.subscriptions_requests import RedriveBody, SubscriptionBody
from cogni_edge.views import json_response
from cogni_kernel import Err, Result

_ALL = "/v1/event-subscriptions"
_ONE = f"{_ALL}/{{subscription_id}}"


@dataclass(frozen=True, slots=True)
class SubscriptionRoutes:
    """The handlers. Whoever may not do this is told the same as where there is nothing."""

    service: SubscriptionService
    answering: Answering

    def routes(self) -> list[BaseRoute]:
        """Return where they are."""
        return [
            Route(_ALL, self.get_all, methods=["GET"]),
            Route(_ALL, self.post_one, methods=["POST"]),
            Route(_ONE, self.delete_one, methods=["DELETE"]),
            Route(f"{_ONE}/confirm", self.post_confirm, methods=["POST"]),
            Route(f"{_ONE}/decline", self.post_decline, methods=["POST"]),
            Route(f"{_ONE}/rotate", self.post_rotate, methods=["POST"]),
            Route(f"{_ONE}/dead", self.get_dead, methods=["GET"]),
            Route(f"{_ONE}/redrive", self.post_redrive, methods=["POST"]),
        ]

    async def get_all(self, request: Request) -> Response:
        """List the tenant's subscriptions, without their secrets."""
        return await self.answering.answer(
            request,
            self.service.all,
            lambda found: json_response({"subscriptions": [subscription_view(s) for s in found]}),
        )

    async def post_one(self, request: Request) -> Response:
        """Ask for one. Its secret is in this answer, and in no other."""

        async def ask(principal: Principal) -> Result[Asked]:
            key = idempotency_key_of(request)
            if isinstance(key, Err):
                return key
            body = await read_body(request, SubscriptionBody)
            if isinstance(body, Err):
                return body
            wanted = body.value
            return await self.service.ask(principal, wanted.url, frozenset(wanted.types), key.value)

        return await self.answering.answer(
            request, ask, lambda asked: json_response(_with_secret(asked), 201)
        )

    async def post_confirm(self, request: Request) -> Response:
        """Confirm what another administrator asked for: events go out from now on."""
        return await self._decide(request, self.service.confirm)

    async def post_decline(self, request: Request) -> Response:
        """Decline it."""
        return await self._decide(request, self.service.decline)

    async def delete_one(self, request: Request) -> Response:
        """End it: nothing more goes out."""
        return await self._decide(request, self.service.remove)

    async def post_rotate(self, request: Request) -> Response:
        """Draw a new secret, shown in this answer alone; the former one signs beside it for a day."""
        subscription = request.path_params["subscription_id"]
        return await self.answering.answer(
            request,
            lambda principal: self.service.rotate(principal, subscription),
            lambda asked: json_response(_with_secret(asked)),
        )

    async def get_dead(self, request: Request) -> Response:
        """List the latest deliveries that were given up."""
        subscription = request.path_params["subscription_id"]
        return await self.answering.answer(
            request,
            lambda principal: self.service.dead(principal, subscription),
            lambda found: json_response({"deliveries": [_dead_view(d) for d in found]}),
        )

    async def post_redrive(self, request: Request) -> Response:
        """Have dead deliveries tried again, with the same id and bytes."""

        async def redrive(principal: Principal) -> Result[int]:
            body = await read_body(request, RedriveBody)
            if isinstance(body, Err):
                return body
            return await self.service.redrive(
                principal, request.path_params["subscription_id"], body.value.events
            )

        return await self.answering.answer(
            request, redrive, lambda count: json_response({"redriven": count})
        )

    async def _decide(
        self,
        request: Request,
        decide: Callable[[Principal, str], Awaitable[Result[Subscription]]],
    ) -> Response:
        subscription = request.path_params["subscription_id"]
        return await self.answering.answer(
            request,
            lambda principal: decide(principal, subscription),
            lambda found: json_response(subscription_view(found)),
        )


def subscription_view(found: Subscription) -> dict[str, object]:
    """Return what an administrator sees of a subscription."""
    return {
        "id": found.id,
        "url": found.endpoint.url,
        "types": sorted(found.types),
        "state": found.state.value,
        "since": found.since.isoformat(),
        "requested_by": str(found.requested_by),
        "requested_at": found.requested_at.isoformat(),
        "decided_by": None if found.decided_by is None else str(found.decided_by),
    }


def _with_secret(asked: Asked) -> Mapping[str, object]:
    found, secret = asked
    return {**subscription_view(found), "secret": secret}


def _dead_view(found: DeadDelivery) -> dict[str, object]:
    return {
        "event": found.event_key,
        "type": found.type,
        "attempts": found.attempts,
        "reason": found.reason,
        "since": found.since.isoformat(),
    }
