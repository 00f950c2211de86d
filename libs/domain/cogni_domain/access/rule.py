"""Who may read one document, as data: what a connector makes of a source's permissions."""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

from cogni_domain.access.tokens import EVERYONE, ReaderToken

Clause: TypeAlias = frozenset[ReaderToken]


@dataclass(frozen=True, slots=True)
class AccessRule:
    """`AllOf(AnyOf(clause), …) − NoneOf(denied)`.

    "No restriction layer" is a clause that is not there; "restricted to nobody" is an empty clause. A rule
    has at least one clause: a source that restricts nothing says `everyone`.

    Attributes:
        clauses: Each must share a token with the reader.
        denied: None may be a token of the reader.

    Source:
        DESIGN D2.

    >>> rule = AccessRule.any_of("g:wiki/hr", "g:wiki/legal").restricted_to("g:wiki/leads")
    >>> rule.admits(frozenset({ReaderToken("g:wiki/hr"), ReaderToken("g:wiki/leads")}))
    True
    >>> rule.admits(frozenset({ReaderToken("g:wiki/hr")}))
    False
    """

    clauses: tuple[Clause, ...]
    denied: Clause = frozenset()

    def __post_init__(self) -> None:
        if not self.clauses:
            raise ValueError(
                "a rule without a clause says nothing; use `everyone` for a document that all may read"
            )
        tokens = frozenset().union(*self.clauses, self.denied)
        if wrong := sorted(t for t in tokens if t != EVERYONE and t[:2] not in ("u:", "g:", "a:")):
            raise ValueError(f"not reader tokens: {wrong}")

    @staticmethod
    def everyone() -> "AccessRule":
        """Return the rule that admits everybody of the tenant."""
        return AccessRule((frozenset({EVERYONE}),))

    @staticmethod
    def any_of(*tokens: str) -> "AccessRule":
        """Return the rule that admits who has one of `tokens`; nobody where there are none."""
        return AccessRule((_clause(tokens),))

    def restricted_to(self, *tokens: str) -> "AccessRule":
        """Return this rule narrowed by one more layer."""
        return AccessRule((*self.clauses, _clause(tokens)), self.denied)

    def except_for(self, *tokens: str) -> "AccessRule":
        """Return this rule with more readers denied."""
        return AccessRule(self.clauses, self.denied | _clause(tokens))

    def both(self, other: "AccessRule") -> "AccessRule":
        """Return the conjunction: a child under its parent's rule."""
        return AccessRule((*self.clauses, *other.clauses), self.denied | other.denied)

    def admits(self, tokens: frozenset[ReaderToken]) -> bool:
        """Tell whether a reader with `tokens` may read. The reference for every store."""
        return not (self.denied & tokens) and all(clause & tokens for clause in self.clauses)

    def simplified(self) -> "AccessRule":
        """Return the same rule in its one canonical form: no clause that another implies, none twice.

        `everyone` is a token of every reader, so a clause that holds it restricts nothing.
        """
        narrowing = {c for c in self.clauses if EVERYONE not in c}
        minimal = {c for c in narrowing if not any(other < c for other in narrowing)}
        ordered = tuple(sorted(minimal, key=sorted)) or (frozenset({EVERYONE}),)
        return AccessRule(ordered, self.denied)

    @property
    def is_compound(self) -> bool:
        """Whether the rule needs more than an overlap of tokens."""
        return _is_compound(self.simplified())

    @property
    def digest(self) -> str:
        """The name of the rule within its tenant: the same for rules that mean the same clauses."""
        return hashlib.sha256(self.to_json().encode()).hexdigest()[:32]

    @property
    def readers(self) -> frozenset[ReaderToken]:
        """What each chunk is stored with: the tokens themselves, or the one token of a compound rule."""
        simple = self.simplified()
        return frozenset({rule_token(simple)}) if _is_compound(simple) else simple.clauses[0]

    def to_json(self) -> str:
        """Return the canonical JSON text."""
        simple = self.simplified()
        return json.dumps(
            {"all_of": [sorted(c) for c in simple.clauses], "none_of": sorted(simple.denied)},
            ensure_ascii=False,
            separators=(",", ":"),
        )

    @staticmethod
    def from_json(text: str) -> "AccessRule":
        """Read `to_json` back."""
        found = json.loads(text)
        return AccessRule(tuple(_clause(c) for c in found["all_of"]), _clause(found["none_of"]))


@dataclass(frozen=True, slots=True)
class Unmappable:
    """A source's permissions could not be read with certainty: nothing is indexed, a gap is listed.

    Attributes:
        explanation: One sentence for an administrator, saying what to do at the source.
    """

    explanation: str


def rule_token(rule: AccessRule) -> ReaderToken:
    """Return the token that stands for a compound rule."""
    return ReaderToken(f"r:{rule.digest}")


def _is_compound(simple: AccessRule) -> bool:
    return len(simple.clauses) > 1 or bool(simple.denied)


def _clause(tokens: Iterable[str]) -> Clause:
    return frozenset(map(ReaderToken, tokens))
