import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from cogni_embedded.evaluation_sets import shared_set
from cogni_evaluation import Stratum, report_from_json
from cogni_kernel import NotFoundError
from cogni_testing import err, ok

if TYPE_CHECKING:
    from tests.embedded.conftest import Cogni

pytestmark = pytest.mark.xdist_group("product")

PLANTS = {
    "1": ("Tomato", "Tomatoes want a warm bed and water at their roots."),
    "2": ("Leek", "Leeks stand the winter and are earthed up in autumn."),
    "3": ("Basil", "Basil is sown in May and hates a cold night."),
    "4": ("Nothing", "  "),
}
BOATS = {
    "1": ("Keel", "A keel keeps a sailing boat from drifting sideways."),
    "2": ("Rudder", "The rudder turns the boat when it moves through water."),
}
PLANT_QUESTIONS = [
    ("1", "Where do tomatoes like to grow?", "1"),
    ("2", "Which vegetable stands winter?", "2"),
]
PLANT_QUESTIONS += [("3", "When is basil sown?", "3"), ("4", "What is earthed up in autumn?", "2")]
PLANT_QUESTIONS += [("5", "What hates a cold night?", "3")]
BOAT_QUESTIONS = [("1", "What keeps a sailing boat from drifting sideways?", "1")]

LEAVE = {
    "id": "leave",
    "question": "How many weeks of parental leave do I get?",
    "scope_fixture": "engineer",
    "stratum": "common",
    "must_retrieve": ["intranet:wiki/handbook/leave/parental-leave"],
}
TUNGSTEN = {
    "id": "tungsten",
    "question": "At what temperature does tungsten melt?",
    "scope_fixture": "engineer",
    "stratum": "unanswerable",
    "expect_refusal": True,
}


def collection(
    folder: Path, texts: dict[str, tuple[str, str]], asked: Sequence[tuple[str, str, str]]
) -> None:
    folder.mkdir(parents=True)
    with gzip.open(folder / "corpus.jsonl.gz", "wt") as lines:
        for id_, (title, text) in texts.items():
            lines.write(json.dumps({"_id": id_, "title": title, "text": text}) + "\n")
    questions = "".join(json.dumps({"_id": i, "text": q}) + "\n" for i, q, _ in asked)
    (folder / "queries.dev.jsonl").write_text(questions)
    rows = "".join(f"{i}\t{document}\t1\n" for i, _, document in asked)
    (folder / "qrels.dev.tsv").write_text(f"query-id\tcorpus-id\tscore\n{rows}")


@pytest.fixture
def shared(tmp_path: Path) -> Path:
    """Two small collections where the shared ones would be."""
    collection(tmp_path / "shared/data/ir/scifact", PLANTS, PLANT_QUESTIONS)
    collection(tmp_path / "shared/data/ir/cranfield", BOATS, BOAT_QUESTIONS)
    return tmp_path / "shared"


def cases(folder: Path, *found: dict[str, Any]) -> Path:
    file = folder / "cases.jsonl"
    file.write_text("\n".join(map(json.dumps, found)))
    return file


def test_a_sixth_of_a_shared_set_is_asked_of_the_other_collection(shared: Path) -> None:
    found = ok(shared_set("scifact", shared))

    kinds = [case.stratum for case in found.cases.cases]
    assert (kinds.count(Stratum.COMMON), kinds.count(Stratum.UNANSWERABLE)) == (5, 1)
    assert [str(text.id) for text in found.texts] == ["1", "2", "3"]


def test_a_shared_set_that_is_not_there_is_named(tmp_path: Path) -> None:
    assert "cranfield" in str(err(shared_set("cranfield", tmp_path), NotFoundError).message)


def test_a_shared_set_is_indexed_and_asked(cogni: "Cogni", shared: Path, tmp_path: Path) -> None:
    found = cogni(
        *("eval", "retrieval", "--cases", "scifact", "--json"),
        data=tmp_path / "none",
        COGNI_SHARED=str(shared),
    )

    assert found.exit_code == 0, found.output
    figures = json.loads(found.stdout)
    assert figures["per_stratum"]["common"]["recall_at_k"]["mean"] == 1.0
    assert figures["per_stratum"]["unanswerable"]["empty_rate"]["mean"] == 1.0
    assert figures["scope_violations"] == []
    assert not (tmp_path / "none").exists()


def test_the_product_is_asked_each_case_as_its_principal(
    cogni: "Cogni", data: Path, tmp_path: Path
) -> None:
    exceptions = "intranet:wiki/handbook/leave/parental-leave/exceptions"
    question = "Who decides on exceptions to parental leave?"
    asked = {"question": question, "stratum": "long_tail", "must_retrieve": [exceptions]}
    file = cases(
        tmp_path,
        *(LEAVE, TUNGSTEN),
        {"id": "theirs", "scope_fixture": "hr-lead", **asked},
        {"id": "not-theirs", "scope_fixture": "engineer", **asked},
        {"id": "nobody", "scope_fixture": "nobody", **asked},
    )

    found = cogni("eval", "retrieval", "--cases", file, "--json", data=data)

    assert found.exit_code == 0, found.output
    report = ok(report_from_json(found.stdout))
    recall = {score.case_id: score.scores.recall for score in report.samples[0]}
    assert recall == {"leave": 1, "tungsten": 1, "theirs": 1, "not-theirs": 0, "nobody": 0}
    assert report.unscored.keys() == {"nobody"}
    assert report.is_passed


def test_a_set_that_rewards_fabrication_is_not_run(
    cogni: "Cogni", data: Path, tmp_path: Path
) -> None:
    found = cogni("eval", "retrieval", "--cases", cases(tmp_path, LEAVE), data=data)

    assert found.exit_code == 1
    assert "have no answer" in found.stderr


def test_what_a_case_wants_and_is_gone_is_named(cogni: "Cogni", data: Path, tmp_path: Path) -> None:
    gone = {**LEAVE, "must_retrieve": ["intranet:wiki/gone"]}

    found = cogni("eval", "retrieval", "--cases", cases(tmp_path, gone, TUNGSTEN), data=data)

    assert "leave wants intranet:wiki/gone" in found.stderr
    assert "common" in found.stdout


def test_the_gate_lets_the_same_through_and_stops_what_got_worse(
    cogni: "Cogni", data: Path, tmp_path: Path
) -> None:
    file, before = cases(tmp_path, LEAVE, TUNGSTEN), tmp_path / "before.json"
    before.write_text(cogni("eval", "retrieval", "--cases", file, "--json", data=data).stdout)

    same = cogni("eval", "retrieval", "--cases", file, "--against", before, data=data)
    better = json.loads(before.read_text())
    for score in better["samples"][0] + better["samples"][1]:
        score["recall"] = score["ndcg"] = 2.0
    before.write_text(json.dumps(better))
    worse = cogni("eval", "retrieval", "--cases", file, "--against", before, data=data)

    assert (same.exit_code, worse.exit_code) == (0, 1)
    assert "The gate says NO." in worse.stderr


@pytest.mark.parametrize("text", ["{", '{"id": "x"}'])
def test_a_file_that_holds_no_cases_is_refused(
    cogni: "Cogni", data: Path, tmp_path: Path, text: str
) -> None:
    file = tmp_path / "cases.jsonl"
    file.write_text(text)

    found = cogni("eval", "retrieval", "--cases", file, data=data)

    assert found.exit_code == 1
    assert "line 1" in found.stderr


def test_a_file_that_is_not_there_is_refused(cogni: "Cogni", data: Path, tmp_path: Path) -> None:
    found = cogni("eval", "retrieval", "--cases", tmp_path / "none", data=data)

    assert found.exit_code == 1
    assert "Name a file, or one of scifact, cranfield." in found.stderr
