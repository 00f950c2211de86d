import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cogni_application.rebuild.rebuild import Blocked
from cogni_embedded.bootstrap import build
from cogni_embedded.rebuilding import FrozenSlice
from cogni_evaluation import read_cases
from cogni_kernel import CorpusId, TenantId
from cogni_runtime.bindings import embedded
from cogni_testing import ok

if TYPE_CHECKING:
    from tests.embedded.conftest import Cogni

pytestmark = pytest.mark.xdist_group("product")

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


def cases(folder: Path, *lines: Mapping[str, object]) -> Path:
    file = folder / "cases.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return file


def answer(cogni: "Cogni", data: Path) -> str:
    told = cogni("ask", LEAVE["question"], "--as", "engineer", data=data)
    assert told.exit_code == 0, told.output
    return told.stdout


def test_an_index_is_made_anew_judged_cut_over_and_taken_back(
    cogni: "Cogni", data: Path, tmp_path: Path
) -> None:
    before = answer(cogni, data)
    unjudged = cogni("rebuild", "intranet", data=data)
    assert "Name --cases" in unjudged.stdout, unjudged.output

    file = cases(tmp_path, LEAVE, TUNGSTEN)
    made = cogni("rebuild", "intranet", "--cases", file, data=data)

    assert "intranet is served by index 2." in made.stdout, made.output
    assert answer(cogni, data) == before
    back = cogni("rebuild", "intranet", "--back", data=data)
    assert "served by index 1 again" in back.stdout, back.output
    assert answer(cogni, data) == before


def test_what_cannot_be_rebuilt_says_why(cogni: "Cogni", data: Path) -> None:
    gone = cogni("rebuild", "nowhere", "--unjudged", data=data)
    never = cogni("rebuild", "intranet", "--back", data=data)
    both = cogni("rebuild", "intranet", "--back", "--unjudged", data=data)

    assert [each.exit_code for each in (gone, never, both)] == [1, 1, 1]
    assert "There is no such corpus." in gone.stderr
    assert "No rebuild of this corpus" in never.stderr
    assert "Name one of" in both.stderr


async def test_the_gate_says_no_to_an_index_that_finds_less(data: Path) -> None:
    product = build(embedded(data, {}))
    file = cases(data, LEAVE, TUNGSTEN)
    gate = FrozenSlice(product, ok(read_cases(str(file), file.read_text())))
    every = ok(await product.retrieval.documents.corpora(TenantId("acme")))
    [serving] = [c for c in every if c.id == CorpusId("intranet")]
    rebuild = ok(await product.rebuilds.rebuild(TenantId("acme"), serving.id))

    judged = ok(await gate.judge(serving, rebuild.target(rebuild.generation, serving)))

    assert isinstance(judged, Blocked)
    assert any(line.startswith("common: recall") for line in judged.comparison)
    await product.bindings.close()
