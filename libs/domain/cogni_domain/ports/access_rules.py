"""Compound rules, found by an inverted table."""

from typing import Protocol

from cogni_domain.access.scope import CompoundRules


class AccessRulesPort(CompoundRules, Protocol):
    """Implementations must pass `contracts.access_rules.AccessRulesContract`.

    Read per request, never kept. The document store writes the rules along with its documents.
    """
