"""The tools of one run: already composed, immutable."""

from dataclasses import dataclass

from cogni_engine.tool.base import Base
from cogni_engine.tool.definition import Definition
from cogni_kernel import DefinitionError


@dataclass(frozen=True, slots=True)
class OfferedTool:
    """What a run record keeps of a tool that could have been called."""

    name: str
    version: str
    effect: str
    grant: str


@dataclass(frozen=True, slots=True)
class RegistrySnapshot:
    """What was OFFERED, not merely what was called; sorted by name."""

    tools: tuple[OfferedTool, ...] = ()

    def names(self) -> frozenset[str]:
        """Return the offered names."""
        return frozenset(t.name for t in self.tools)


@dataclass(frozen=True, slots=True)
class Registry:
    """Receives tool classes; which ones is decided above, from grants alone.

    Source:
        COGNI.BUILD spec, package engine, "Tool::Registry".
    """

    entries: tuple[type[Base], ...] = ()

    def __post_init__(self) -> None:
        names = [str(e.definition.name) for e in self.entries]
        if len(set(names)) < len(names):
            raise DefinitionError(f"two tools share a name: {sorted(names)}")

    @staticmethod
    def empty() -> "Registry":
        """Return the registry that offers nothing."""
        return Registry()

    def fetch(self, name: str) -> type[Base] | None:
        """Return the tool of exactly that name; None means NOT OFFERED."""
        return next((e for e in self.entries if e.definition.name.value == name), None)

    def definitions(self) -> tuple[Definition, ...]:
        """Return what the model is told."""
        return tuple(e.definition for e in self.entries)

    def without(self, name: str) -> "Registry":
        """Return the registry with one tool withdrawn."""
        return Registry(tuple(e for e in self.entries if e.definition.name.value != name))

    @property
    def snapshot(self) -> RegistrySnapshot:
        """What a run record keeps."""
        return RegistrySnapshot(
            tuple(
                sorted(
                    (
                        OfferedTool(
                            str(e.definition.name),
                            str(e.definition.version),
                            e.effect.value,
                            str(e.grant),
                        )
                        for e in self.entries
                    ),
                    key=lambda t: t.name,
                )
            )
        )
