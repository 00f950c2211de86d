"""Whether the right documents come back, and none that the asker may not read."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Protocol

from cogni_evaluation.cases import Case, Stratum, digest_of
from cogni_evaluation.metrics import NOTHING, Scores, ScoreWithVariance, scored
from cogni_kernel import DocumentId, Err, Result


class RetrievalTarget(Protocol):
    """What is measured: an index with all that searches it."""

    async def retrieve(self, question: str, asker: str, k: int) -> Result[Sequence[DocumentId]]:
        """Return at most `k` documents, best first."""
        ...

    async def may_read(
        self, asker: str, documents: Sequence[DocumentId]
    ) -> Result[frozenset[DocumentId]]:
        """Return those that the asker may read, from the sources' rules and never from the search itself."""
        ...


@dataclass(frozen=True, slots=True)
class CaseScore:
    """How one case went, once.

    Attributes:
        is_empty: Nothing came back.
        violations: Documents that came back and that the asker may not read.
        unscored: Why it could not be asked, which counts as nothing right; empty where it could.
    """

    case_id: str
    stratum: Stratum
    scores: Scores
    is_empty: bool
    violations: tuple[DocumentId, ...] = ()
    unscored: str = ""


@dataclass(frozen=True, slots=True)
class Figures:
    """The means over cases of one kind."""

    cases: int
    recall_at_k: ScoreWithVariance
    precision_at_k: ScoreWithVariance
    mrr: ScoreWithVariance
    ndcg: ScoreWithVariance
    empty_rate: ScoreWithVariance


@dataclass(frozen=True, slots=True)
class RetrievalReport:
    """What a run found; always told by kind of question, never as one number.

    Attributes:
        digest: Of the cases, so that only runs of the same ones are compared.
        samples: Every case as it went each time.
    """

    k: int
    digest: str
    samples: tuple[tuple[CaseScore, ...], ...]

    @property
    def per_stratum(self) -> Mapping[Stratum, Figures]:
        """Return the figures of each kind that there are cases of."""
        present = {score.stratum for score in self.samples[0]}
        return {s: self._figures(s) for s in Stratum if s in present}

    @property
    def scope_violations(self) -> tuple[tuple[str, DocumentId], ...]:
        """Return case and document of everything that came back to somebody who may not read it."""
        found = (
            (score.case_id, document)
            for sample in self.samples
            for score in sample
            for document in score.violations
        )
        return tuple(dict.fromkeys(found))

    @property
    def unscored(self) -> Mapping[str, str]:
        """Return the cases that could not be asked, each with the reason."""
        return {s.case_id: s.unscored for sample in self.samples for s in sample if s.unscored}

    @property
    def is_passed(self) -> bool:
        """Whether nothing was disclosed: one violation fails the run, whatever else it says."""
        return not self.scope_violations

    def _figures(self, stratum: Stratum) -> Figures:
        samples = [[score for score in run if score.stratum is stratum] for run in self.samples]

        def mean(of: Callable[[CaseScore], float]) -> ScoreWithVariance:
            return ScoreWithVariance.of([fmean(map(of, sample)) for sample in samples])

        return Figures(
            cases=len(samples[0]),
            recall_at_k=mean(lambda s: s.scores.recall),
            precision_at_k=mean(lambda s: s.scores.precision),
            mrr=mean(lambda s: s.scores.reciprocal_rank),
            ndcg=mean(lambda s: s.scores.ndcg),
            empty_rate=mean(lambda s: s.is_empty),
        )


@dataclass(frozen=True, slots=True)
class RetrievalSuite:
    """Asks every case, more than once, and looks only at which documents came back.

    Attributes:
        k: How many documents are looked at.
        samples: How often everything is asked.

    Raises:
        ValueError: One of them is below 1.

    Source:
        COGNI.BUILD spec, package evaluation, "RetrievalSuite".
    """

    k: int = 10
    samples: int = 2

    def __post_init__(self) -> None:
        if self.k < 1 or self.samples < 1:
            raise ValueError("a suite looks at one document at least, once at least")

    async def run(self, cases: Sequence[Case], target: RetrievalTarget) -> RetrievalReport:
        """Return what came of all cases; one that fails is scored as nothing right.

        Raises:
            ValueError: There are no cases.
        """
        if not cases:
            raise ValueError("a suite without cases measures nothing")
        runs = [
            tuple([await self._asked(case, target) for case in cases]) for _ in range(self.samples)
        ]
        return RetrievalReport(self.k, digest_of(cases), tuple(runs))

    async def _asked(self, case: Case, target: RetrievalTarget) -> CaseScore:
        found = await target.retrieve(case.question, case.scope_fixture, self.k)
        if isinstance(found, Err):
            return _unscored(case, found)
        allowed = await target.may_read(case.scope_fixture, found.value)
        if isinstance(allowed, Err):
            return _unscored(case, allowed)
        return CaseScore(
            case.id,
            case.stratum,
            scored(found.value, case.must_retrieve, self.k),
            is_empty=not found.value,
            violations=tuple(d for d in found.value if d not in allowed.value),
        )


def _unscored(case: Case, failure: Err) -> CaseScore:
    reason = f"{failure.error.code}: {failure.error.message}"
    return CaseScore(case.id, case.stratum, NOTHING, is_empty=False, unscored=reason)
