"""Believing a host's token, or not."""

from typing import Protocol

from cogni_domain.access.resolver import TokenVerifier


class TokenVerifierPort(TokenVerifier, Protocol):
    """Implementations must pass `contracts.token_verifier.TokenVerifierContract`."""
