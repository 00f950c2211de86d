"""What an administrator can give, and what comes with it."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from cogni_kernel import DefinitionError, GrantKey, HumanText


class Sensitivity(Enum):
    """How carefully a grant is given."""

    ORDINARY = "ordinary"
    ELEVATED = "elevated"
    RESTRICTED = "restricted"


@dataclass(frozen=True, slots=True)
class Grant:
    """One capability. `name` and `description` are what an administrator reads when granting it.

    Source:
        COGNI.BUILD spec, package domain, "Grant".
    """

    key: GrantKey
    name: HumanText
    description: HumanText
    implies: frozenset[GrantKey] = frozenset()
    sensitivity: Sensitivity = Sensitivity.ORDINARY

    def __post_init__(self) -> None:
        if self.name.is_blank() or self.description.is_blank():
            raise DefinitionError(
                f"the grant {self.key} needs a name and a description for administrators"
            )


class GrantCatalogue:
    """Every grant there is. A reference to any other fails where it is made."""

    def __init__(self, grants: Iterable[Grant] = ()) -> None:
        self._grants: dict[GrantKey, Grant] = {}
        for grant in grants:
            self.declare(grant)

    def declare(self, grant: Grant) -> None:
        """Add a grant; declaring the same one again changes nothing.

        Raises:
            DefinitionError: Another grant has that key.
        """
        if self._grants.setdefault(grant.key, grant) != grant:
            raise DefinitionError(f"the grant {grant.key} is declared twice, differently")

    def known(self, key: GrantKey) -> bool:
        """Tell whether the grant is declared."""
        return key in self._grants

    def require(self, key: GrantKey, needed_by: str) -> None:
        """Insist that a grant is declared.

        Raises:
            DefinitionError: It is not: a typo would make something that nobody can ever be given.
        """
        if not self.known(key):
            declared = ", ".join(sorted(map(str, self._grants))) or "none"
            raise DefinitionError(
                f"{needed_by} needs the grant {key}, which is not declared. Declared: {declared}"
            )

    def resolve_implied(self, keys: Iterable[GrantKey]) -> frozenset[GrantKey]:
        """Return the known ones of `keys` and all that they imply, however deep; circles end."""
        found: set[GrantKey] = set()
        waiting = list(keys)
        while waiting:
            key = waiting.pop()
            if key in found or key not in self._grants:
                continue
            found.add(key)
            waiting.extend(self._grants[key].implies)
        return frozenset(found)

    def all(self) -> tuple[Grant, ...]:
        """Return every grant, by key."""
        return tuple(self._grants[key] for key in sorted(self._grants))
