from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import cycle

import pytest

from cogni_evaluation import (
    Case,
    RetrievalReport,
    RetrievalSuite,
    RetrievalTarget,
    Stratum,
    report_from_json,
    report_to_json,
)
from cogni_kernel import DocumentId, Err, HumanText, InvalidArgumentError, Ok, Result, UpstreamError
from cogni_testing import err, ok

A, B, SECRET = map(DocumentId, ("a", "b", "secret"))
ANSWERED = Case("answered", "What is a?", "engineer", Stratum.COMMON, {A: 1})
REFUSED = Case("refused", "What is z?", "engineer", Stratum.UNANSWERABLE, expect_refusal=True)
RARE = Case("rare", "What is b?", "hr", Stratum.LONG_TAIL, {B: 2})


@dataclass
class Answers(RetrievalTarget):
    """Gives what it is told to, by question."""

    found: Mapping[str, Sequence[DocumentId]]
    fails: str = ""
    asked: list[tuple[str, str]] = field(default_factory=list)

    async def retrieve(self, question: str, asker: str, k: int) -> Result[Sequence[DocumentId]]:
        self.asked.append((question, asker))
        if question == self.fails:
            return Err(UpstreamError(HumanText("The store is down.")))
        return Ok(self.found.get(question, ())[:k])

    async def may_read(
        self, asker: str, documents: Sequence[DocumentId]
    ) -> Result[frozenset[DocumentId]]:
        if self.fails == "may_read":
            return Err(UpstreamError(HumanText("Nobody knows.")))
        return Ok(frozenset(documents) - {SECRET})


async def run(target: Answers, *, samples: int = 2) -> RetrievalReport:
    return await RetrievalSuite(k=3, samples=samples).run([ANSWERED, REFUSED, RARE], target)


async def test_figures_are_told_by_kind_of_question() -> None:
    report = await run(Answers({ANSWERED.question: (A, B), RARE.question: (A,)}))

    kinds = report.per_stratum
    assert list(kinds) == [Stratum.COMMON, Stratum.LONG_TAIL, Stratum.UNANSWERABLE]
    assert kinds[Stratum.COMMON].recall_at_k.mean == 1.0
    assert kinds[Stratum.COMMON].precision_at_k.mean == 0.5
    assert kinds[Stratum.LONG_TAIL].mrr.mean == 0.0
    assert kinds[Stratum.UNANSWERABLE].ndcg.mean == 1.0
    assert kinds[Stratum.UNANSWERABLE].empty_rate.mean == 1.0


async def test_each_case_is_asked_as_its_principal_and_more_than_once() -> None:
    target = Answers({})

    await run(target)

    assert target.asked.count((RARE.question, "hr")) == 2


async def test_one_document_that_the_asker_may_not_read_fails_the_run() -> None:
    report = await run(Answers({ANSWERED.question: (A, SECRET), RARE.question: (B,)}))

    assert report.scope_violations == (("answered", SECRET),)
    assert not report.is_passed
    assert report.per_stratum[Stratum.COMMON].recall_at_k.mean == 1.0


async def test_a_case_that_cannot_be_asked_counts_as_nothing_right() -> None:
    found = {ANSWERED.question: (A,), RARE.question: (B,)}

    report = await run(Answers(found, fails=REFUSED.question))

    assert report.per_stratum[Stratum.UNANSWERABLE].recall_at_k.mean == 0.0
    assert report.unscored == {"refused": "Upstream: The store is down."}
    assert report.is_passed


async def test_a_case_whose_readers_cannot_be_told_is_not_scored() -> None:
    report = await run(Answers({ANSWERED.question: (A,)}, fails="may_read"))

    assert report.unscored.keys() == {"answered", "refused", "rare"}
    assert report.per_stratum[Stratum.COMMON].recall_at_k.mean == 0.0


async def test_answers_that_differ_from_time_to_time_have_a_variance() -> None:
    class Moody(Answers):
        moods = cycle([(A,), ()])

        async def retrieve(self, question: str, asker: str, k: int) -> Result[Sequence[DocumentId]]:
            return Ok(next(self.moods))

    report = await RetrievalSuite(samples=2).run([ANSWERED], Moody({}))

    assert report.per_stratum[Stratum.COMMON].recall_at_k.mean == 0.5
    assert report.per_stratum[Stratum.COMMON].recall_at_k.variance == 0.5


async def test_a_report_comes_back_from_its_text() -> None:
    report = await run(Answers({ANSWERED.question: (A, SECRET)}, fails=RARE.question))

    assert ok(report_from_json(report_to_json(report))) == report


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"k": 1, "digest": "d", "samples": []}',
        '{"k": 1, "digest": "d", "samples": [[3]]}',
    ],
)
def test_what_is_no_report_is_refused(text: str) -> None:
    err(report_from_json(text), InvalidArgumentError)


async def test_a_suite_without_cases_measures_nothing() -> None:
    with pytest.raises(ValueError, match="nothing"):
        await RetrievalSuite().run([], Answers({}))


@pytest.mark.parametrize(("k", "samples"), [(0, 1), (1, 0)])
def test_a_suite_looks_at_something(k: int, samples: int) -> None:
    with pytest.raises(ValueError, match="once at least"):
        RetrievalSuite(k, samples)
