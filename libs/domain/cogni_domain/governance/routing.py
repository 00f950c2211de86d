"""Which model does which kind of work, which one stands in for it, and where content may be processed."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TypeAlias

from cogni_domain.providers.pinning import pinned
from cogni_kernel import DefinitionError, Err, HumanText, Ok, Result, TaskClass, UpstreamError

HERE = "here"
"""The region of a model that runs within this process: what it reads goes nowhere."""

NO_MODEL = HumanText(
    "No language model may be asked for this organisation. An administrator has to name one in its region."
)


@dataclass(frozen=True, slots=True)
class ResidencyRequirement:
    """Where an organisation's content may be processed; `regions` is None where it does not matter.

    >>> ResidencyRequirement.within("eu").admits("us")
    False
    """

    regions: frozenset[str] | None = None

    @staticmethod
    def anywhere() -> "ResidencyRequirement":
        """Return the requirement that every region satisfies."""
        return ResidencyRequirement()

    @staticmethod
    def within(*regions: str) -> "ResidencyRequirement":
        """Return the requirement that these regions alone satisfy; none of them means: this process alone."""
        return ResidencyRequirement(frozenset(map(_normal, regions)))

    def admits(self, region: str) -> bool:
        """Tell whether content may be processed there. A region that nobody named is none of those required."""
        return self.regions is None or _normal(region) in {HERE, *self.regions} - {""}

    def and_also(self, other: "ResidencyRequirement") -> "ResidencyRequirement":
        """Return what satisfies both; where they have no region in common, nothing outside this process does."""
        if self.regions is None or other.regions is None:
            return other if self.regions is None else self
        return ResidencyRequirement(self.regions & other.regions)


@dataclass(frozen=True, slots=True)
class ModelBinding:
    """One version of a model, at one provider, in one region.

    Attributes:
        provider: As a deployment calls it: `openai`.
        version: Can mean one model only.
        region: Where it processes what it reads; empty where nobody said so.

    Raises:
        DefinitionError: The version is missing or a floating alias.
    """

    provider: str
    version: str
    region: str = ""

    def __post_init__(self) -> None:
        pinned(self.version)

    def satisfies(self, residency: ResidencyRequirement) -> bool:
        """Tell whether content under this requirement may be sent there."""
        return residency.admits(self.region)


Bindings: TypeAlias = Mapping[TaskClass, ModelBinding]

_NONE: Bindings = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class RoutingPolicy:
    """No binding of it breaks its residency: being available does not outrank a promise about data.

    Attributes:
        by_class: Who does each kind of work.
        fallback: Who does it when that one fails; a kind that is absent has nobody.

    Raises:
        DefinitionError: A binding does not satisfy the residency; says which.

    Source:
        COGNI.BUILD spec, package domain, "RoutingPolicy".
    """

    by_class: Bindings
    fallback: Bindings = field(default_factory=lambda: _NONE)
    residency: ResidencyRequirement = ResidencyRequirement()

    def __post_init__(self) -> None:
        for bindings in (self.by_class, self.fallback):
            for binding in bindings.values():
                if not binding.satisfies(self.residency):
                    raise DefinitionError(_outside(binding, self.residency))

    def binding_for(self, task_class: TaskClass) -> Result[ModelBinding]:
        """Return who does a kind of work.

        Errors:
            UpstreamError: Nobody may; it is not retryable.
        """
        binding = self.by_class.get(task_class)
        return Err(UpstreamError(NO_MODEL, retryable=False)) if binding is None else Ok(binding)

    def fallback_for(self, task_class: TaskClass) -> ModelBinding | None:
        """Return who stands in, None where nobody does."""
        return self.fallback.get(task_class)

    def under(self, residency: ResidencyRequirement) -> "RoutingPolicy":
        """Return what remains of the policy under one more requirement, for one organisation's work.

        Who stands in does the work where the first may not; nobody stands in for themselves.
        """
        both = self.residency.and_also(residency)
        first = {c: b for c, b in self.by_class.items() if b.satisfies(both)}
        second = {c: b for c, b in self.fallback.items() if b.satisfies(both)}
        standing_in = {c: b for c, b in second.items() if first.get(c, b) != b}
        return RoutingPolicy({**second, **first}, standing_in, both)


def _normal(region: str) -> str:
    return region.strip().casefold()


def _outside(binding: ModelBinding, residency: ResidencyRequirement) -> str:
    allowed = ", ".join(sorted(residency.regions or ())) or "this process alone"
    where = f"in {binding.region}" if binding.region.strip() else "in a region that is not named"
    return (
        f"{binding.version} of {binding.provider} is {where}, and content may be processed in {allowed}: "
        "name the region, or another model"
    )
