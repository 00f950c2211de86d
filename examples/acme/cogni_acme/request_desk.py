"""Requests by their reference, each only as far as the asking person may see it."""

from collections.abc import Mapping
from dataclasses import replace

from cogni_acme.content import Item
from cogni_acme.intranet import Intranet
from cogni_acme.tickets import Ticket
from cogni_domain.access.principal import Principal
from cogni_domain.access.rule import AccessRule
from cogni_kernel import TenantId


class RequestDesk:
    """The tickets of every tenant's intranet."""

    def __init__(self, intranets: Mapping[TenantId, Intranet]) -> None:
        self._intranets = dict(intranets)

    def find(self, principal: Principal, reference: str) -> Ticket | None:
        """Return a request with those comments that `principal` may read.

        None is the answer both where there is no such request and where it is not for this principal.
        """
        if principal.tenant_id is None or principal.tenant_id not in self._intranets:
            return None
        intranet = self._intranets[principal.tenant_id]
        item = intranet.ticket(reference)
        if item is None or item.ticket is None or not admits(item, principal):
            return None
        visible = tuple(
            comment
            for number, comment in enumerate(item.ticket.comments, start=1)
            if not comment.is_internal
            or admits(intranet.get(f"{item.id}/internal-{number}"), principal)
        )
        return replace(item.ticket, comments=visible)


def admits(item: Item | None, principal: Principal) -> bool:
    """Tell whether every party may read; what is not there or cannot be mapped admits nobody."""
    return (
        item is not None
        and isinstance(item.rule, AccessRule)
        and all(item.rule.admits(party.own_tokens()) for party in principal.parties())
    )
