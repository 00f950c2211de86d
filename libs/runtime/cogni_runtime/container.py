"""Which adapter satisfies which port, per platform or per tenant."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias, TypeVar, cast

from cogni_domain.ports.embedder import EmbedderPort
from cogni_domain.ports.vector_store import VectorStorePort
from cogni_kernel import DefinitionError, TenantId

P = TypeVar("P")


@dataclass(frozen=True, slots=True)
class Swapped:
    """The new adapter serves from now on."""


@dataclass(frozen=True, slots=True)
class RequiresRebuild:
    """The swap would leave an index that was written by one model and queried by another."""

    procedure: str = "Rebuild the tenant's indexes with the new adapter, then cut over."


SwapOutcome: TypeAlias = Swapped | RequiresRebuild


class Container:
    """Holds the bindings; everything else receives its collaborators.

    Source:
        COGNI.BUILD spec, package runtime, "Container".
    """

    def __init__(self) -> None:
        self._bound: dict[tuple[type, TenantId | None], object] = {}
        self._indexed: set[TenantId | None] = set()

    def bind(self, port: type[P], adapter: P, tenant: TenantId | None = None) -> None:
        """Bind for the platform, or for one tenant, whose binding then goes first.

        Raises:
            DefinitionError: The port is bound there already; use `swap`.
        """
        if (port, tenant) in self._bound:
            raise DefinitionError(f"{port.__name__} is bound already; swap it")
        self._bound[port, tenant] = adapter

    def resolve(self, port: type[P], tenant: TenantId | None = None) -> P:
        """Return the tenant's binding, else the platform's.

        Raises:
            DefinitionError: Neither is there.
        """
        for place in (tenant, None):
            if (port, place) in self._bound:
                return cast(P, self._bound[port, place])
        raise DefinitionError(f"no adapter is bound to {port.__name__}")

    def names(self) -> Sequence[tuple[str, str]]:
        """Return which adapter each port has on the platform, by name, for a person to read."""
        platform = ((p, a) for (p, tenant), a in self._bound.items() if tenant is None)
        return sorted((port.__name__, type(adapter).__name__) for port, adapter in platform)

    def note_index(self, tenant: TenantId) -> None:
        """Remember that an index exists for the tenant, and so for some tenant of the platform."""
        self._indexed.update((tenant, None))

    def swap(self, port: type[P], adapter: P, tenant: TenantId | None = None) -> SwapOutcome:
        """Bind another adapter, unless an index depends on the one that is there.

        What was resolved before keeps what it got.
        """
        depends = port in (EmbedderPort, VectorStorePort)
        if depends and tenant in self._indexed:
            return RequiresRebuild()
        self._bound[port, tenant] = adapter
        return Swapped()

    def validate(self, ports: tuple[type, ...]) -> None:
        """Insist at startup that every port is bound.

        Raises:
            DefinitionError: Names each that is not.
        """
        missing = [p.__name__ for p in ports if (p, None) not in self._bound]
        if missing:
            raise DefinitionError(f"no adapter is bound to {', '.join(missing)}")
