import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogni_evaluation import (
    OVERRIDE,
    Blocked,
    CaseScore,
    Change,
    ChangeGate,
    ChangeKind,
    Passed,
    RetrievalReport,
    Scores,
    Stratum,
)
from cogni_kernel import ConflictError, DocumentId
from cogni_testing import err, ok

SECRET = DocumentId("secret")
STRATA = list(Stratum)


def report(*values: float, digest: str = "d", precision: float = 1.0) -> RetrievalReport:
    scores = tuple(
        CaseScore(f"c{n}", Stratum.COMMON, Scores(v, precision, v, v), is_empty=False)
        for n, v in enumerate(values)
    )
    return RetrievalReport(10, digest, (scores,))


def judged(
    before: RetrievalReport, after: RetrievalReport, kind: ChangeKind = ChangeKind.EMBEDDING
) -> Passed | Blocked:
    return ok(ChangeGate().evaluate(Change(kind, before, after)))


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30), st.sampled_from(ChangeKind))
def test_no_change_passes(values: list[float], kind: ChangeKind) -> None:
    assert isinstance(judged(report(*values), report(*values), kind), Passed)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_what_is_nowhere_worse_passes(values: list[float]) -> None:
    better = [min(1.0, v + 0.1) for v in values]

    assert isinstance(judged(report(*values), report(*better)), Passed)


@given(st.lists(st.floats(0.3, 1), min_size=1, max_size=30))
def test_what_is_everywhere_worse_is_blocked_with_the_comparison(values: list[float]) -> None:
    verdict = judged(report(*values), report(*(v - 0.3 for v in values)))

    assert isinstance(verdict, Blocked)
    assert verdict.overridable_by == OVERRIDE
    assert len(verdict.comparison.differences) == 3
    assert verdict.comparison.objections


def test_a_kind_of_question_that_got_worse_is_not_hidden_by_the_others() -> None:
    def mixed(common: float, rare: float) -> RetrievalReport:
        kinds = [*[Stratum.COMMON] * 90, *[Stratum.LONG_TAIL] * 10]
        values = {Stratum.COMMON: common, Stratum.LONG_TAIL: rare}
        scores = tuple(
            CaseScore(f"c{n}", kind, Scores(*[values[kind]] * 4), is_empty=False)
            for n, kind in enumerate(kinds)
        )
        return RetrievalReport(10, "d", (scores,))

    verdict = judged(mixed(0.5, 0.8), mixed(0.9, 0.6))

    assert isinstance(verdict, Blocked)
    assert all(line.startswith("long_tail") for line in verdict.comparison.objections)


def test_one_question_of_a_few_is_chance_and_two_are_not() -> None:
    before = report(*[1.0] * 10)

    assert isinstance(judged(before, report(0.0, *[1.0] * 9)), Passed)
    assert isinstance(judged(before, report(0.0, 0.0, *[1.0] * 8)), Blocked)


def test_a_disclosure_is_blocked_for_everybody_however_good_the_rest() -> None:
    leaking = CaseScore("c0", Stratum.COMMON, Scores(1, 1, 1, 1), False, violations=(SECRET,))

    verdict = judged(report(0.1), RetrievalReport(10, "d", ((leaking,),)))

    assert isinstance(verdict, Blocked)
    assert verdict.overridable_by is None
    assert "secret" in verdict.comparison.objections[0]


def test_a_case_that_cannot_be_asked_any_more_blocks() -> None:
    silent = CaseScore("c0", Stratum.COMMON, Scores(0, 0, 0, 0), False, unscored="Upstream: down")

    assert isinstance(judged(report(0.0), RetrievalReport(10, "d", ((silent,),))), Blocked)


def test_precision_is_watched_where_the_corpus_grew() -> None:
    before, after = report(1.0, 1.0), report(1.0, 1.0, precision=0.5)

    assert isinstance(judged(before, after), Passed)
    assert isinstance(judged(before, after, ChangeKind.CORPUS), Blocked)


def test_runs_of_other_cases_are_not_compared() -> None:
    change = Change(ChangeKind.EMBEDDING, report(1.0), report(1.0, digest="other"))

    err(ChangeGate().evaluate(change), ConflictError)


def test_a_gate_that_asks_for_improvement_is_no_gate() -> None:
    with pytest.raises(ValueError, match="negative"):
        ChangeGate(-0.1)
