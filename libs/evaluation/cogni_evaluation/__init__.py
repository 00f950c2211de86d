"""Whether a change made the product better or worse: cases, suites, and the gate."""

from cogni_evaluation.case_files import read_cases, slice_from_json, slice_to_json
from cogni_evaluation.cases import TARGET_SHARES, Case, CaseSet, FrozenSlice, Stratum
from cogni_evaluation.change_gate import (
    OVERRIDE,
    Blocked,
    Change,
    ChangeGate,
    ChangeKind,
    Comparison,
    Difference,
    Passed,
    Verdict,
)
from cogni_evaluation.metrics import Scores, ScoreWithVariance, scored
from cogni_evaluation.report_files import report_from_json, report_to_json
from cogni_evaluation.retrieval_suite import (
    CaseScore,
    Figures,
    RetrievalReport,
    RetrievalSuite,
    RetrievalTarget,
)

__all__ = [
    "OVERRIDE",
    "TARGET_SHARES",
    "Blocked",
    "Case",
    "CaseScore",
    "CaseSet",
    "Change",
    "ChangeGate",
    "ChangeKind",
    "Comparison",
    "Difference",
    "Figures",
    "FrozenSlice",
    "Passed",
    "RetrievalReport",
    "RetrievalSuite",
    "RetrievalTarget",
    "ScoreWithVariance",
    "Scores",
    "Stratum",
    "Verdict",
    "read_cases",
    "report_from_json",
    "report_to_json",
    "scored",
    "slice_from_json",
    "slice_to_json",
]
