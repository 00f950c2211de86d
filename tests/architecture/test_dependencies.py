"""Each package declares what it imports, and nothing that it does not."""

import ast
import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = sorted(
    path.parent
    for area in ("libs", "services", "examples")
    for path in (ROOT / area).glob("*/pyproject.toml")
)
NOT_BY_STATEMENT = {
    "cogni-adapters",  # embedded names the extras that its bindings import
    "openvino",  # loaded late, without its telemetry
    "psycopg",  # named by the address of a database
    "scikit-learn",  # loaded late
    "tokenizers",  # loaded late
    "websockets",  # loaded by the web server
}


def normal(requirement: str) -> str:
    return re.sub(r"[-_.]+", "-", re.split(r"[\[<>=~!; ]", requirement)[0]).lower()


def declared(package: Path) -> set[str]:
    project = tomllib.loads((package / "pyproject.toml").read_text())["project"]
    extras = project.get("optional-dependencies", {}).values()
    return {normal(r) for r in [*project.get("dependencies", []), *(r for e in extras for r in e)]}


def imported(package: Path) -> set[str]:
    """Return the distributions that the package's code imports, its own left out."""
    [code] = [p for p in package.glob("cogni_*") if p.is_dir()]
    modules = {name.split(".")[0] for path in code.rglob("*.py") for name in _imports(path)}
    owners = packages_distributions()
    found: set[str] = set()
    for module in modules - set(sys.stdlib_module_names) - {code.name}:
        if module.startswith("cogni_"):
            found.add(module.replace("_", "-"))
        else:
            found.add(normal(owners[module][0]))
    return found


def _imports(path: Path) -> list[str]:
    nodes = list(ast.walk(ast.parse(path.read_text())))
    plain = [alias.name for n in nodes if isinstance(n, ast.Import) for alias in n.names]
    return plain + [n.module for n in nodes if isinstance(n, ast.ImportFrom) and n.module]


@pytest.mark.parametrize("package", PACKAGES, ids=lambda p: p.name)
def test_what_is_imported_is_declared(package: Path) -> None:
    assert imported(package) - declared(package) == set()


@pytest.mark.parametrize("package", PACKAGES, ids=lambda p: p.name)
def test_what_is_declared_is_imported(package: Path) -> None:
    assert declared(package) - imported(package) - NOT_BY_STATEMENT == set()
