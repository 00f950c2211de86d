"""Terraform: what each topology is, and that the chart takes what comes out."""

import json
import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from tests.deploy.tools import CHART, Chart, Tools, of_kind
from tests.servers.installing import ROOT

IMAGES = {
    name: {"repository": f"cogni/{name}", "tag": "2.4.0"}
    for name in ("edge", "turn", "retrieval", "indexing", "rendering", "event-sink", "console")
}


@dataclass(frozen=True, slots=True)
class Terraform:
    folder: Path

    def run(self, *arguments: str) -> str:
        """Run terraform on a copy of the configuration, without a word to anybody outside."""
        done = subprocess.run(
            ["terraform", *arguments],
            cwd=self.folder,
            env=os.environ
            | {
                "CHECKPOINT_DISABLE": "1",
                "TF_CLI_CONFIG_FILE": os.devnull,
                "TF_IN_AUTOMATION": "1",
            },
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def outputs(self, topology: str, variables: dict[str, object]) -> dict[str, object]:
        (self.folder / "terraform.tfvars.json").write_text(
            json.dumps({"topology": topology, **variables})
        )
        self.run("apply", "-auto-approve", "-input=false", "-no-color")
        found = json.loads(self.run("output", "-json"))
        return {name: it["value"] for name, it in found.items()}


@pytest.fixture(scope="session")
def terraform(tmp_path_factory: pytest.TempPathFactory) -> Terraform:
    if shutil.which("terraform") is None:
        pytest.skip("NOT run: terraform is not installed")
    folder = tmp_path_factory.mktemp("terraform") / "infra"
    shutil.copytree(ROOT / "infra/terraform", folder, ignore=shutil.ignore_patterns(".terraform*"))
    done = Terraform(folder)
    done.run("init", "-backend=false", "-input=false", "-no-color")
    return done


def test_the_configuration_is_valid_and_in_its_form(terraform: Terraform) -> None:
    terraform.run("fmt", "-check", "-recursive", "-diff")
    assert "valid" in terraform.run("validate", "-no-color")


def test_terraforms_own_tests_pass(terraform: Terraform) -> None:
    said = terraform.run("test", "-no-color")

    assert "0 failed" in said
    assert "0 passed" not in said


def cluster_servers() -> object:
    return yaml.safe_load((CHART / "ci/cluster.yaml").read_text())["servers"]


@pytest.mark.parametrize(
    ("topology", "planes"),
    [
        ("SELF_HOSTED", ["data"]),
        ("HYBRID", ["data", "control"]),
        ("MANAGED", ["data", "control"]),
    ],
)
def test_the_chart_takes_the_values_of_each_plane(
    terraform: Terraform,
    chart: Chart,
    judges: Tools,
    tmp_path: Path,
    topology: str,
    planes: Sequence[str],
) -> None:
    variables = {"images": IMAGES, "servers": cluster_servers(), "secrets": ["cogni-database"]}
    outputs = terraform.outputs(topology, variables)
    running: dict[str, set[str]] = {}
    for plane in ("data", "control"):
        values = outputs.get(f"{plane}_plane_values")
        if values is None:
            continue
        file = tmp_path / f"{plane}.yaml"
        file.write_text(str(values))
        rendered = chart.render("-f", str(file))
        (tmp_path / "manifests.yaml").write_text(rendered)
        assert judges.schema_errors(tmp_path / "manifests.yaml") == ""
        running[plane] = {name.removeprefix("cogni-") for name in of_kind(rendered, "Deployment")}

    assert list(running) == planes
    assert set().union(*running.values()) == set(IMAGES)
    assert ("console" in running["data"]) == (topology == "SELF_HOSTED")
    if "control" in running:
        assert running["control"] == {"console"}


@pytest.mark.parametrize(
    ("topology", "crosses"),
    [
        ("SELF_HOSTED", {"corpus_at_rest": False, "transcripts": False, "labelled_sets": "opt-in"}),
        ("HYBRID", {"corpus_at_rest": False, "transcripts": False, "labelled_sets": "opt-in"}),
        ("MANAGED", {"corpus_at_rest": True, "transcripts": True, "labelled_sets": True}),
    ],
)
def test_what_crosses_the_boundary(
    terraform: Terraform, topology: str, crosses: dict[str, object]
) -> None:
    assert terraform.outputs(topology, {})["crosses_boundary"] == crosses
