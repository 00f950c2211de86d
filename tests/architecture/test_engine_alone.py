"""The engine can be extracted: its wheel and the kernel's, alone in a fresh environment, pass its tests."""

import json
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from importlib.metadata import Distribution, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
UV = ROOT / ".uv/bin/uv"
TEST_TOOLS = ("pytest", "pytest-asyncio", "hypothesis")
SETTINGS = """[pytest]
addopts = --import-mode=importlib --strict-markers --strict-config -p no:cacheprovider --hypothesis-profile=ci
asyncio_mode = auto
asyncio_default_fixture_loop_scope = function
filterwarnings = error
"""
IMPORTABLE = """import importlib.util, json, sys
print(json.dumps({n: getattr(importlib.util.find_spec(n), "origin", None) for n in sys.argv[1:]}))
"""


def run(*command: str | Path, cwd: Path, python_path: Path | None = None) -> str:
    environment = {"PATH": "/usr/bin:/bin", "HOME": tempfile.gettempdir(), "UV_OFFLINE": "1"}
    if python_path is not None:
        environment["PYTHONPATH"] = str(python_path)
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=250,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout[-8000:]}\n{done.stderr[-4000:]}"
    return done.stdout


def build_wheel(lib: str, target: Path) -> Path:
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", target, cwd=ROOT / lib)
    [wheel] = target.glob(f"cogni_{Path(lib).name}-*.whl")
    return wheel


def with_requirements(name: str, seen: dict[str, Distribution]) -> dict[str, Distribution]:
    """Return the installed distribution of that name and all that it needs here."""
    if name not in seen:
        seen[name] = distribution(name)
        for line in seen[name].requires or ():
            needed = Requirement(line)
            if needed.marker is None or needed.marker.evaluate({"extra": ""}):
                with_requirements(needed.name.lower(), seen)
    return seen


def top_entries(installed: Distribution) -> Iterator[Path]:
    """Yield what a distribution has in site-packages: its packages, modules and metadata."""
    tops = {file.parts[0] for file in installed.files or ()} - {"..", "__pycache__"}
    for top in sorted(tops):
        yield Path(str(installed.locate_file(top)))


def link_test_tools(folder: Path) -> Path:
    """Make the test tools importable from `folder`, and nothing else of this environment."""
    folder.mkdir()
    found: dict[str, Distribution] = {}
    for name in TEST_TOOLS:
        with_requirements(name, found)
    for installed in found.values():
        for entry in top_entries(installed):
            (folder / entry.name).symlink_to(entry)
    return folder


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an environment that holds kernel and engine, their wheels, and the test tools apart."""
    assert UV.exists(), "run `make install`, which brings uv"
    folder = tmp_path_factory.mktemp("alone")
    wheels = folder / "wheels"
    wheels.mkdir()
    for lib in ("libs/kernel", "libs/engine"):
        build_wheel(lib, wheels)
    run(UV, "venv", "--quiet", "--no-cache", "--python", sys.executable, "environment", cwd=folder)
    offline = ("--no-cache", "--no-index", "--find-links", wheels)
    python = folder / "environment/bin/python"
    run(UV, "pip", "install", "--quiet", *offline, "--python", python, "cogni-engine", cwd=folder)
    link_test_tools(folder / "tools")
    return folder


@pytest.mark.parametrize("lib", ["kernel", "engine"])
def test_a_wheel_holds_its_package_and_nothing_else(alone: Path, lib: str) -> None:
    [wheel] = (alone / "wheels").glob(f"cogni_{lib}-*.whl")
    files = zipfile.ZipFile(wheel).namelist()

    tops = {name.split("/")[0] for name in files if ".dist-info/" not in name}
    assert tops == {f"cogni_{lib}"}
    assert f"cogni_{lib}/py.typed" in files


def test_no_other_package_of_ours_is_in_the_environment(alone: Path) -> None:
    ours = sorted(path.parent.name for path in ROOT.glob("*/*/cogni_*/__init__.py"))
    python = alone / "environment/bin/python"
    origins = json.loads(
        run(python, "-c", IMPORTABLE, *ours, cwd=alone, python_path=alone / "tools")
    )

    assert "cogni_domain" in ours
    importable = {name for name, origin in origins.items() if origin is not None}
    assert importable == {"cogni_kernel", "cogni_engine"}
    assert all(str(alone) in origins[name] for name in importable)


def test_the_engines_tests_pass_there(alone: Path) -> None:
    shutil.copytree(
        ROOT / "libs/engine/tests", alone / "tests", ignore=shutil.ignore_patterns("__pycache__")
    )
    (alone / "pytest.ini").write_text(SETTINGS)
    python = alone / "environment/bin/python"

    said = run(
        python, "-m", "pytest", "-q", "tests", cwd=alone, python_path=alone / "tools"
    ).splitlines()[-1]

    assert " passed" in said
    assert not any(word in said for word in ("failed", "error", "skipped", "warning"))
