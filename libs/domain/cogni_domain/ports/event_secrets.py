"""Keeping secrets where a database alone gives none of them away."""

from typing import Protocol

from cogni_kernel import Result


class EventSecretsPort(Protocol):
    """Implementations must pass `contracts.event_secrets.EventSecretsContract`."""

    def seal(self, secret: str, owner: str) -> str:
        """Return `secret` encrypted, never twice the same; it opens for the same `owner` alone."""
        ...

    def open(self, sealed: str, owner: str) -> Result[str]:
        """Return what was sealed.

        Errors:
            UpstreamError: It was sealed under another key or for another owner, or was changed.
        """
        ...
