"""What is asked to measure the product: by whom, and what should come back."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from enum import Enum
from statistics import median

from cogni_kernel import DocumentId, Err, HumanText, InvalidArgumentError, Ok, Result

LEAST_UNANSWERABLE = 0.10
"""The share of questions without an answer that a set must exceed, or it rewards fabrication."""
OLD = timedelta(days=183)
FAR_OFF = 0.10


class Stratum(Enum):
    """What kind of question it is; scores are told apart by it."""

    COMMON = "common"
    LONG_TAIL = "long_tail"
    MULTI_STEP = "multi_step"
    UNANSWERABLE = "unanswerable"
    ADVERSARIAL = "adversarial"
    AMBIGUOUS = "ambiguous"


TARGET_SHARES: Mapping[Stratum, float] = {
    Stratum.COMMON: 0.35,
    Stratum.LONG_TAIL: 0.20,
    Stratum.MULTI_STEP: 0.15,
    Stratum.UNANSWERABLE: 0.15,
    Stratum.ADVERSARIAL: 0.10,
    Stratum.AMBIGUOUS: 0.05,
}


@dataclass(frozen=True, slots=True)
class Case:
    """One question, who asks it, and what a right answer rests on.

    Attributes:
        scope_fixture: The principal who asks, by name: who asks changes what is right.
        must_retrieve: The documents that answer it, each with its grade, from 1; scored without a model.
        expect_refusal: Nothing answers it for this principal; `must_retrieve` is empty.
        context: What was said before, for suites that look at answers, as are the two below.
        added: The day it was written; sets rot as the corpus moves.

    Raises:
        ValueError: The id or question is blank, a grade is below 1, or a refusal has documents.

    Source:
        COGNI.BUILD spec, package evaluation, "Case".
    """

    id: str
    question: str
    scope_fixture: str
    stratum: Stratum
    must_retrieve: Mapping[DocumentId, int] = field(default_factory=dict)
    expect_refusal: bool = False
    context: str = ""
    must_contain: tuple[str, ...] = ()
    must_not_contain: tuple[str, ...] = ()
    notes: str = ""
    added: date | None = None

    def __post_init__(self) -> None:
        if not self.id.strip() or not self.question.strip():
            raise ValueError("a case has an id and a question")
        if any(grade < 1 for grade in self.must_retrieve.values()):
            raise ValueError(f"{self.id}: a document that answers has a grade of at least 1")
        if self.expect_refusal and self.must_retrieve:
            raise ValueError(f"{self.id}: what is to be refused has no documents that answer it")

    def to_json(self) -> dict[str, object]:
        """Return the case as JSON values, empty fields left out."""
        fields: dict[str, object] = {
            "id": self.id,
            "question": self.question,
            "scope_fixture": self.scope_fixture,
            "stratum": self.stratum.value,
            "must_retrieve": {str(d): grade for d, grade in sorted(self._graded())},
            "expect_refusal": self.expect_refusal,
            "context": self.context,
            "must_contain": list(self.must_contain),
            "must_not_contain": list(self.must_not_contain),
            "notes": self.notes,
            "added": self.added.isoformat() if self.added else "",
        }
        return {name: value for name, value in fields.items() if value}

    def _graded(self) -> list[tuple[str, int]]:
        return [(str(document), grade) for document, grade in self.must_retrieve.items()]


@dataclass(frozen=True, slots=True)
class FrozenSlice:
    """Cases that are never changed: what makes "did this help" answerable over a year.

    Raises:
        ValueError: The cases are not those that were frozen.
    """

    name: str
    cases: tuple[Case, ...]
    digest: str

    def __post_init__(self) -> None:
        if self.digest != digest_of(self.cases):
            raise ValueError(f"the slice {self.name} was changed after it was frozen")


@dataclass(frozen=True, slots=True)
class CaseSet:
    """Cases of every kind.

    Raises:
        ValueError: There are none, or two have one id.

    Source:
        COGNI.BUILD spec, package evaluation, "CaseSet".
    """

    name: str
    cases: tuple[Case, ...]

    def __post_init__(self) -> None:
        if not self.cases:
            raise ValueError(f"{self.name} holds no case")
        ids = [case.id for case in self.cases]
        if (
            twice := sorted({i for i in ids if ids.count(i) > 1})
            if len(set(ids)) < len(ids)
            else []
        ):
            raise ValueError(f"{self.name} has these ids twice: {', '.join(twice)}")

    def share(self, stratum: Stratum) -> float:
        """Return how much of the set is of that kind, 0 to 1."""
        return sum(case.stratum is stratum for case in self.cases) / len(self.cases)

    def validate(self, today: date) -> Result[tuple[str, ...]]:
        """Return warnings, where the set can be trusted at all.

        Errors:
            InvalidArgumentError: Too few unanswerable questions, nobody who asks, or a case that cannot be
                scored; names the cases.
        """
        wrong = [*self._without_asker(), *self._unscorable()]
        if self.share(Stratum.UNANSWERABLE) <= LEAST_UNANSWERABLE:
            wrong.append(
                f"Only {self.share(Stratum.UNANSWERABLE):.0%} of the questions have no answer; more than "
                f"{LEAST_UNANSWERABLE:.0%} must, or fabrication passes for accuracy."
            )
        if wrong:
            return Err(InvalidArgumentError(HumanText(f"{self.name}: {' '.join(wrong)}")))
        return Ok((*self._aged(today), *self._unbalanced()))

    def freeze_slice(self, n: int) -> FrozenSlice:
        """Return `n` cases, each kind with its share of the set, chosen by their ids alone.

        Raises:
            ValueError: `n` is not between 1 and the size of the set.
        """
        if not 1 <= n <= len(self.cases):
            raise ValueError(f"a slice of {self.name} has 1 to {len(self.cases)} cases")
        ranked: list[tuple[float, str, Case]] = []
        for stratum in Stratum:
            members = sorted((c for c in self.cases if c.stratum is stratum), key=_drawn)
            ranked += [((at + 0.5) / len(members), _drawn(c), c) for at, c in enumerate(members)]
        chosen = {case.id for _, _, case in sorted(ranked, key=lambda r: r[:2])[:n]}
        cases = tuple(case for case in self.cases if case.id in chosen)
        return FrozenSlice(f"{self.name}-{n}", cases, digest_of(cases))

    def _without_asker(self) -> list[str]:
        ids = [case.id for case in self.cases if not case.scope_fixture.strip()]
        return [f"Nobody asks {', '.join(ids)}."] if ids else []

    def _unscorable(self) -> list[str]:
        ids = [c.id for c in self.cases if not c.expect_refusal and not c.must_retrieve]
        return [f"Nothing is wanted of {', '.join(ids)}."] if ids else []

    def _aged(self, today: date) -> list[str]:
        ages = [(today - case.added).days for case in self.cases if case.added]
        if ages and median(ages) > OLD.days:
            return [f"Half of the dated cases are older than {median(ages):.0f} days."]
        return []

    def _unbalanced(self) -> list[str]:
        return [
            f"{stratum.value} makes up {self.share(stratum):.0%} of the set; {target:.0%} is meant."
            for stratum, target in TARGET_SHARES.items()
            if abs(self.share(stratum) - target) > FAR_OFF
        ]


def digest_of(cases: Sequence[Case]) -> str:
    """Return a name for exactly these cases, whatever their order."""
    lines = sorted(json.dumps(case.to_json(), sort_keys=True) for case in cases)
    return hashlib.blake2b("\n".join(lines).encode(), digest_size=16).hexdigest()


def _drawn(case: Case) -> str:
    """Return the case's place in the draw: the same in every version of the set."""
    return hashlib.blake2b(case.id.encode(), digest_size=8).hexdigest()
