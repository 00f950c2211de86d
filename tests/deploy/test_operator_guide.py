"""The operator's guide names what there is: commands, targets, files and settings."""

import re

from cogni_embedded.cli import app
from tests.deploy.tools import CHART, Chart
from tests.servers.installing import ROOT

GUIDE = (ROOT / "docs/guides/operator.md").read_text()


def test_its_cogni_commands_exist() -> None:
    known = {command.callback.__name__ for command in app.registered_commands if command.callback}
    named = set(re.findall(r"(?:-- |`)cogni ([a-z]+)", GUIDE))

    assert {"ask", "doctor", "migrate"} <= named
    assert named <= known


def test_its_make_targets_exist() -> None:
    targets = set(re.findall(r"(?m)^([a-z][a-z0-9-]*):", (ROOT / "Makefile").read_text()))

    assert set(re.findall(r"`make ([a-z-]+)", GUIDE)) <= targets


def test_its_files_exist() -> None:
    named = set(
        re.findall(r"\b((?:deploy|infra|docs|services)/[A-Za-z0-9_./-]+[A-Za-z0-9])", GUIDE)
    )

    assert "infra/terraform" in named
    assert [it for it in named if not (ROOT / it).exists()] == []


def test_the_chart_takes_the_settings_of_its_commands(chart: Chart) -> None:
    commands = [line for line in GUIDE.splitlines() if re.match(r" +helm .*--set", line)]

    assert commands
    for line in commands:
        settings = [it.strip("'") for it in re.findall(r"--set (\S+)", line)]
        chart.render(*(part for it in settings for part in ("--set", it)))


def test_its_outputs_are_terraforms() -> None:
    outputs = set(re.findall(r'output "(\w+)"', (ROOT / "infra/terraform/outputs.tf").read_text()))

    assert set(re.findall(r"terraform(?: -chdir=\S+)? output (?:-raw )?(\w+)", GUIDE)) <= outputs
    assert {"crosses_boundary", "control_plane_values"} <= outputs


def test_every_priority_and_node_label_that_it_names_is_the_charts() -> None:
    values = (CHART / "values.yaml").read_text()

    for label in set(re.findall(r"cogni\.build/\w+", GUIDE)):
        assert label in values
