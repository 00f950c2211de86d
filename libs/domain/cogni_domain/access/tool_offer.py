"""Which tools a principal is offered: decided from grants alone, before any content is read."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar, cast

from cogni_domain.access.grants import GrantCatalogue
from cogni_domain.access.principal import Principal
from cogni_domain.access.scope import Scope
from cogni_engine import Base, Effect, Registry
from cogni_kernel import DefinitionError, RunRef

R = TypeVar("R")


class ToolCatalogue:
    """Every tool there is. A tool whose grant is not declared fails here, at define time."""

    def __init__(self, grants: GrantCatalogue, tools: Iterable[type[Base]] = ()) -> None:
        self._grants = grants
        self._tools: dict[str, type[Base]] = {}
        for tool in tools:
            self.declare(tool)

    def declare(self, tool: type[Base]) -> None:
        """Add a tool.

        Raises:
            DefinitionError: Its grant is not declared, or its name is taken.
        """
        name = str(tool.definition.name)
        self._grants.require(tool.grant, f"the tool {name}")
        if self._tools.setdefault(name, tool) is not tool:
            raise DefinitionError(f"two tools are named {name}")

    def all(self) -> tuple[type[Base], ...]:
        """Return every tool, by name."""
        return tuple(self._tools[name] for name in sorted(self._tools))

    def find(self, name: str) -> type[Base] | None:
        """Return a tool by name, for the execution of an accepted proposal; a run never asks here."""
        return self._tools.get(name)


@dataclass(frozen=True, slots=True)
class OfferContext:
    """What else than grants decides.

    Attributes:
        effects: What the surface supports: without a confirmation step, READ alone.
        disabled: Tools that the tenant switched off.
        unhealthy: Tools that are broken just now.
    """

    effects: frozenset[Effect] = frozenset(Effect)
    disabled: frozenset[str] = frozenset()
    unhealthy: frozenset[str] = frozenset()


class ToolRegistryComposer:
    """The bridge from who may do what to what may be called.

    Source:
        COGNI.BUILD spec, package domain, "ToolRegistryComposer".
    """

    def __init__(self, catalogue: ToolCatalogue) -> None:
        self._catalogue = catalogue

    def compose(self, principal: Principal, context: OfferContext) -> Registry:
        """Return what this principal is offered; no passage, file or record can add to it."""
        withheld = context.disabled | context.unhealthy
        return Registry(
            tuple(
                tool
                for tool in self._catalogue.all()
                if principal.has_grant(tool.grant)
                and tool.effect in context.effects
                and str(tool.definition.name) not in withheld
            )
        )


@dataclass(frozen=True, slots=True)
class ToolContext:
    """All that a tool may touch in one run; the engine's `InvocationContext`."""

    principal: Principal
    scope: Scope
    run_ref: RunRef
    resources: Mapping[type, object] = field(default_factory=dict)

    def resource(self, kind: type[R]) -> R:
        """Return what was injected for `kind`.

        Raises:
            DefinitionError: Nothing was; the tool must name it in `requires` and the deployment must bind it.
        """
        try:
            return cast(R, self.resources[kind])
        except KeyError:
            raise DefinitionError(f"no {kind.__name__} was bound for tools") from None
