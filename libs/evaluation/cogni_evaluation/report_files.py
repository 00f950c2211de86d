"""A report as JSON: what a later run is compared with."""

import json
from dataclasses import asdict

from cogni_evaluation.cases import Stratum
from cogni_evaluation.metrics import Scores
from cogni_evaluation.retrieval_suite import CaseScore, RetrievalReport
from cogni_kernel import DocumentId, Err, HumanText, InvalidArgumentError, Ok, Result

NO_REPORT = HumanText("This is no report of a retrieval evaluation.")


def report_to_json(report: RetrievalReport) -> str:
    """Return the figures for who reads them, and the samples that `report_from_json` reads back."""
    figures = {s.value: asdict(f) for s, f in report.per_stratum.items()}
    violations = [[case, str(document)] for case, document in report.scope_violations]
    samples = [[_score_to_json(score) for score in sample] for sample in report.samples]
    return json.dumps(
        {
            "k": report.k,
            "digest": report.digest,
            "passed": report.is_passed,
            "scope_violations": violations,
            "unscored": dict(report.unscored),
            "per_stratum": figures,
            "samples": samples,
        },
        ensure_ascii=False,
    )


def report_from_json(text: str) -> Result[RetrievalReport]:
    """Read a report back.

    Errors:
        InvalidArgumentError: It is none.
    """
    try:
        found = json.loads(text)
        samples = tuple(tuple(map(_score_from_json, sample)) for sample in found["samples"])
        if not samples or not all(samples):
            return Err(InvalidArgumentError(NO_REPORT))
        return Ok(RetrievalReport(int(found["k"]), str(found["digest"]), samples))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return Err(InvalidArgumentError(NO_REPORT))


def _score_to_json(score: CaseScore) -> dict[str, object]:
    return {
        "case": score.case_id,
        "stratum": score.stratum.value,
        **asdict(score.scores),
        "empty": score.is_empty,
        "violations": [str(document) for document in score.violations],
        "unscored": score.unscored,
    }


def _score_from_json(found: dict[str, object]) -> CaseScore:
    scores = {name: float(str(found[name])) for name in Scores.__slots__}
    violations = found["violations"]
    if not isinstance(violations, list):
        raise ValueError("violations are a list")
    return CaseScore(
        str(found["case"]),
        Stratum(found["stratum"]),
        Scores(**scores),
        is_empty=bool(found["empty"]),
        violations=tuple(DocumentId(str(document)) for document in violations),
        unscored=str(found["unscored"]),
    )
