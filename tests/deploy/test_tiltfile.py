"""The Tiltfile does what tilt.yaml says, by a Starlark interpreter and Tilt's functions, noted as they are called."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.deploy.tools import Chart, Tools, of_kind
from tests.servers.installing import ROOT

RUN = """
import json, pathlib, sys
import starlark

asked = json.load(sys.stdin)
calls = []

def noted(name):
    def call(*args, **named):
        calls.append([name, list(args), named])
        return name
    return call

module = starlark.Module()
for name in ("allow_k8s_contexts", "docker_build", "helm", "k8s_yaml", "k8s_resource"):
    module.add_callable(name, noted(name))
module.add_callable("read_yaml", lambda path: asked["files"][path])
module.add_callable("_define_bool", noted("define_bool"))
module.add_callable("_parse", lambda: {"migrate": asked["migrate"]})
globals_ = starlark.Globals.extended_by([starlark.LibraryExtension.StructType])
start = "config = struct(define_bool = _define_bool, parse = _parse)\\n"
dialect = starlark.Dialect.extended()
dialect.enable_top_level_stmt = True
starlark.eval(module, starlark.parse("Tiltfile", start + asked["tiltfile"], dialect), globals_)
json.dump(calls, sys.stdout)
"""


def called(judges: Tools, *, migrate: bool = False) -> dict[str, list[dict[str, Any]]]:
    files = {"tilt.yaml": yaml.safe_load((ROOT / "tilt.yaml").read_text())}
    asked = {"files": files, "migrate": migrate, "tiltfile": (ROOT / "Tiltfile").read_text()}
    done = judges.python("-c", RUN, said=json.dumps(asked))
    assert done.returncode == 0, done.stderr
    found: dict[str, list[dict[str, Any]]] = {}
    for name, args, named in json.loads(done.stdout):
        found.setdefault(name, []).append({"args": args, **named})
    return found


def test_every_service_of_tilt_yaml_is_built_run_and_forwarded(judges: Tools) -> None:
    settings = yaml.safe_load((ROOT / "tilt.yaml").read_text())
    calls = called(judges)

    built = {call["args"][0]: call["dockerfile"] for call in calls["docker_build"]}
    assert built == {it["image"]: it["dockerfile"] for it in settings["services"].values()}
    assert all((ROOT / dockerfile).is_file() for dockerfile in built.values())
    assert all((ROOT / source).exists() for source in settings["sources"])
    forwarded = {call["args"][0]: call["port_forwards"] for call in calls["k8s_resource"]}
    assert forwarded == {
        f"{settings['release']}-{name}": it["forward"] for name, it in settings["services"].items()
    }


def test_clusters_that_are_not_a_machines_own_are_not_touched(judges: Tools) -> None:
    [call] = called(judges)["allow_k8s_contexts"]

    assert all(name.startswith(("kind-", "minikube", "docker-")) for name in call["args"][0])


@pytest.mark.parametrize("migrate", [False, True])
def test_the_chart_takes_what_the_tiltfile_sets(
    judges: Tools, chart: Chart, *, migrate: bool
) -> None:
    [call] = called(judges, migrate=migrate)["helm"]
    assert (ROOT / call["args"][0]).samefile(Path(ROOT / "deploy/helm/cogni"))

    rendered = chart.render(*(part for it in call["set"] for part in ("--set", it)))

    settings = yaml.safe_load((ROOT / "tilt.yaml").read_text())
    assert set(of_kind(rendered, "Deployment")) == {
        f"cogni-{name}" for name in settings["services"]
    }
    assert bool(of_kind(rendered, "Job")) == migrate
