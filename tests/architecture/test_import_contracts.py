"""Every import contract is broken on purpose, in a copy of the house, and must say so."""

import os
import shutil
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"][
    "contracts"
]


@dataclass(frozen=True)
class Violation:
    """One line of code that a contract must catch, and where it would stand."""

    contract: str
    module: str
    line: str


VIOLATIONS = [
    Violation("layers", "cogni_engine/stray.py", "import cogni_domain"),
    Violation("layers", "cogni_kernel/stray.py", "import cogni_engine"),
    Violation("layers", "cogni_application/stray.py", "from cogni_surfaces import render_answer"),
    Violation("layers", "cogni_domain/stray.py", "import cogni_evaluation"),
    Violation("layers", "cogni_edge/requests.py", "import cogni_embedded.demo"),
    Violation(
        "adapters-stand-on-domain",
        "cogni_adapters/memory/stray.py",
        "import cogni_application.lanes",
    ),
    Violation("bindings", "cogni_embedded/stray.py", "import cogni_adapters.memory"),
    Violation("bindings", "cogni_runtime/stray.py", "import cogni_adapters.database.engine"),
    Violation(
        "adapters-are-siblings", "cogni_adapters/jwt/stray.py", "import cogni_adapters.memory"
    ),
    Violation(
        "adapters-are-siblings", "cogni_adapters/rest/stray.py", "import cogni_adapters.wiki"
    ),
    Violation("adapters-are-siblings", "cogni_adapters/stray.py", "VALUE = 1"),
    Violation(
        "testing-is-light", "cogni_testing/stray.py", "import cogni_adapters.database.engine"
    ),
    Violation("testing-is-light", "cogni_testing/stray.py", "import cogni_runtime.container"),
    Violation("nobody-needs-testing", "cogni_runtime/stray.py", "import cogni_testing"),
    Violation("demo-is-an-integrator", "cogni_acme/stray.py", "import cogni_application.lanes"),
    Violation("demo-is-optional", "cogni_edge/requests.py", "import cogni_acme"),
    Violation("vendors", "cogni_domain/stray.py", "import sqlalchemy"),
    Violation("vendors", "cogni_application/stray.py", "import openai"),
    Violation("kernel-and-engine-are-bare", "cogni_engine/stray.py", "import numpy"),
    Violation("edge-anatomy", "cogni_edge/requests.py", "import cogni_edge.http"),
    Violation("edge-anatomy", "cogni_edge/helpers.py", "HELP = 1"),
    Violation(
        "event-sink-anatomy", "cogni_event_sink/settings.py", "import cogni_event_sink.health"
    ),
    Violation("event-sink-anatomy", "cogni_event_sink/helpers.py", "HELP = 1"),
    Violation("no-circles", "cogni_kernel/ids.py", "import cogni_kernel.usage"),
    Violation(
        "layers",
        "cogni_kernel/stray.py",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import cogni_engine",
    ),
]


def packages() -> list[Path]:
    return [
        path
        for area in ("libs", "services", "examples")
        for path in (ROOT / area).glob("*/cogni_*")
        if (path / "__init__.py").exists()
    ]


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the product's packages alone, side by side."""
    copy = tmp_path_factory.mktemp("house")
    for package in packages():
        shutil.copytree(
            package,
            copy / package.name,
            ignore=shutil.ignore_patterns("__pycache__", "content", "migrations"),
        )
    shutil.copy(ROOT / "pyproject.toml", copy / "pyproject.toml")
    return copy


def lint(house: Path, contract: str) -> subprocess.CompletedProcess[str]:
    command = [
        str(Path(sys.executable).parent / "lint-imports"),
        "--no-cache",
        "--contract",
        contract,
    ]
    environment = {**os.environ, "PYTHONPATH": str(house)}
    return subprocess.run(
        command, cwd=house, env=environment, capture_output=True, text=True, check=False
    )


@pytest.mark.xdist_group("import-contracts")
@pytest.mark.parametrize(
    "violation", VIOLATIONS, ids=lambda v: f"{v.contract}: {v.module}: {v.line[:40]}"
)
def test_a_contract_catches_its_violation(house: Path, violation: Violation) -> None:
    file = house / violation.module
    before = file.read_text() if file.exists() else None
    file.write_text((before or "") + f"\n{violation.line}\n")
    try:
        done = lint(house, violation.contract)
    finally:
        file.write_text(before) if before is not None else file.unlink()

    assert done.returncode == 1, done.stdout + done.stderr
    assert "BROKEN" in done.stdout


@pytest.mark.xdist_group("import-contracts")
def test_the_copy_itself_breaks_no_contract(house: Path) -> None:
    for contract in CONTRACTS:
        done = lint(house, contract["id"])

        assert done.returncode == 0, done.stdout


def test_every_contract_is_broken_on_purpose() -> None:
    assert {v.contract for v in VIOLATIONS} == {c["id"] for c in CONTRACTS}


def test_no_contract_looks_away() -> None:
    text = (ROOT / "pyproject.toml").read_text()

    assert "ignore_imports" not in text
    assert "exclude_type_checking_imports" not in text


def test_every_package_is_under_contract() -> None:
    listed = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"][
        "root_packages"
    ]

    assert {p.name for p in packages()} == set(listed)
