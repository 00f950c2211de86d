"""A language model, as services depend on it."""

from typing import Protocol

from cogni_engine import HealthState, Model


class ModelPort(Model, Protocol):
    """Implementations must pass `contracts.model.ModelContract`."""

    def health(self) -> HealthState:
        """Return how the provider has been lately, without asking it."""
        ...
