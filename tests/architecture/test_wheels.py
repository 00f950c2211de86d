"""Each package is a wheel of its own that holds its code, its marker of types, and nothing else's."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = sorted(
    path.parent
    for area in ("libs", "services", "examples")
    for path in (ROOT / area).glob("*/pyproject.toml")
)


@pytest.mark.parametrize("package", PACKAGES, ids=lambda p: p.name)
def test_a_package_builds_as_a_wheel_of_its_own(package: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    done = subprocess.run(command, cwd=package, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr

    [wheel] = tmp_path.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/")[0] for name in names if ".dist-info" not in name}
    [module] = [p.name for p in package.glob("cogni_*") if p.is_dir()]

    assert tops == {module}
    assert f"{module}/py.typed" in names
    assert not [name for name in names if "/tests/" in name]
