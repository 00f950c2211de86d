"""Whether a change may go on: the gate can say NO."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from math import sqrt
from statistics import fmean, stdev
from typing import TypeAlias

from cogni_evaluation.cases import Stratum
from cogni_evaluation.metrics import Scores
from cogni_evaluation.retrieval_suite import RetrievalReport
from cogni_kernel import ConflictError, Err, GrantKey, HumanText, Ok, Result

OVERRIDE = GrantKey("evaluation.override")
OTHER_CASES = HumanText("The two runs asked other cases, or looked at other numbers of documents.")


class ChangeKind(Enum):
    """What was changed, of all that moves what retrieval finds."""

    EMBEDDING = "embedding"
    CHUNKING = "chunking"
    CORPUS = "corpus"


_RANKING: Mapping[str, Callable[[Scores], float]] = {
    "recall": lambda scores: scores.recall,
    "mrr": lambda scores: scores.reciprocal_rank,
    "ndcg": lambda scores: scores.ndcg,
}
_WATCHED: Mapping[ChangeKind, Mapping[str, Callable[[Scores], float]]] = {
    ChangeKind.EMBEDDING: _RANKING,
    ChangeKind.CHUNKING: _RANKING,
    # A corpus that grows brings more of what is not wanted, without anybody deploying anything.
    ChangeKind.CORPUS: {**_RANKING, "precision": lambda scores: scores.precision},
}


@dataclass(frozen=True, slots=True)
class Change:
    """A run before and a run after, of the same cases."""

    kind: ChangeKind
    baseline: RetrievalReport
    candidate: RetrievalReport


@dataclass(frozen=True, slots=True)
class Difference:
    """One figure of one kind of question, before and after.

    Attributes:
        allowed: How far it may fall: the tolerance, and what chance explains.
    """

    stratum: Stratum
    metric: str
    baseline: float
    candidate: float
    allowed: float

    @property
    def is_worse(self) -> bool:
        """Whether it fell by more than is allowed."""
        return self.baseline - self.candidate > self.allowed + 1e-12

    def line(self) -> str:
        """Return it for a person."""
        return (
            f"{self.stratum.value}: {self.metric} {self.baseline:.3f} → {self.candidate:.3f}"
            f" (may fall by {self.allowed:.3f})"
        )


@dataclass(frozen=True, slots=True)
class Comparison:
    """Every figure before and after, and what speaks against the change."""

    differences: tuple[Difference, ...]
    objections: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Passed:
    """The change may go on."""

    comparison: Comparison


@dataclass(frozen=True, slots=True)
class Blocked:
    """The change must not go on.

    Attributes:
        overridable_by: The grant of who may let it through all the same; None where nobody may.
    """

    comparison: Comparison
    overridable_by: GrantKey | None


Verdict: TypeAlias = Passed | Blocked


@dataclass(frozen=True, slots=True)
class ChangeGate:
    """Compares case by case, so that the same hard question weighs the same on both sides.

    Attributes:
        tolerance: How far a mean may fall, beside one standard error of the paired differences.

    Raises:
        ValueError: The tolerance is negative.

    Source:
        COGNI.BUILD spec, package evaluation, "ChangeGate".
    """

    tolerance: float = 0.02

    def __post_init__(self) -> None:
        if self.tolerance < 0:
            raise ValueError("a tolerance is not negative")

    def evaluate(self, change: Change) -> Result[Verdict]:
        """Return whether the change may go on.

        Errors:
            ConflictError: The runs are not of the same cases.
        """
        before, after = change.baseline, change.candidate
        if (before.digest, before.k) != (after.digest, after.k):
            return Err(ConflictError(OTHER_CASES))
        differences = tuple(self._differences(change))
        objections = [d.line() for d in differences if d.is_worse]
        if lost := sorted(after.unscored.keys() - before.unscored.keys()):
            objections.append(f"could not be asked any more: {', '.join(lost)}")
        disclosed = [f"{c} showed {d} to who may not read it" for c, d in after.scope_violations]
        comparison = Comparison(differences, (*disclosed, *objections))
        if disclosed:
            return Ok(Blocked(comparison, None))
        return Ok(Blocked(comparison, OVERRIDE) if objections else Passed(comparison))

    def _differences(self, change: Change) -> Iterator[Difference]:
        strata = {score.case_id: score.stratum for score in change.baseline.samples[0]}
        for metric, of in _WATCHED[change.kind].items():
            before, after = _by_case(change.baseline, of), _by_case(change.candidate, of)
            for stratum in Stratum:
                cases = [case for case, kind in strata.items() if kind is stratum]
                if not cases:
                    continue
                moved = [after[case] - before[case] for case in cases]
                chance = stdev(moved) / sqrt(len(moved)) if len(moved) > 1 else 0.0
                yield Difference(
                    stratum,
                    metric,
                    fmean(before[case] for case in cases),
                    fmean(after[case] for case in cases),
                    self.tolerance + chance,
                )


def _by_case(report: RetrievalReport, of: Callable[[Scores], float]) -> dict[str, float]:
    """Return each case's mean over the samples."""
    found: dict[str, list[float]] = {}
    for sample in report.samples:
        for score in sample:
            found.setdefault(score.case_id, []).append(of(score.scores))
    return {case: fmean(values) for case, values in found.items()}
