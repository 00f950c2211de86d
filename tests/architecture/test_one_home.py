"""What has one home is made nowhere else."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FORMS = {"Eq", "OneOf", "Overlaps", "NoneOf", "All"}
HOME = "cogni_domain.access.predicate"
BUILDERS = {
    "libs/domain/cogni_domain/access/scope.py",  # what a principal may see
    "libs/domain/cogni_domain/access/predicate.py",  # the algebra itself
}
PORTS = ROOT / "libs/domain/cogni_domain/ports"
ENGINE_PORTS = {"ReferenceStore"}


def sources() -> list[Path]:
    return [
        path
        for area in ("libs", "services", "examples")
        for path in (ROOT / area).glob("*/cogni_*/**/*.py")
        if "contracts" not in path.parts
    ]


def builders(tree: ast.Module) -> list[int]:
    """Return the lines that construct a predicate form, by whatever name it was imported."""
    names: dict[str, str] = {}
    modules: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == HOME:
            names.update({a.asname or a.name: a.name for a in node.names if a.name in FORMS})
        if isinstance(node, ast.ImportFrom) and node.module == HOME.rpartition(".")[0]:
            modules.update(a.asname or a.name for a in node.names if a.name == "predicate")
        if isinstance(node, ast.Import):
            modules.update(a.asname or a.name for a in node.names if a.name == HOME)
    return [
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and _forms(node.func, names, modules)
    ]


def _forms(called: ast.expr, names: dict[str, str], modules: set[str]) -> bool:
    if isinstance(called, ast.Name):
        return called.id in names
    if isinstance(called, ast.Attribute):
        return called.attr in FORMS and ast.unparse(called.value) in modules
    return False


def test_only_scope_builds_an_access_predicate() -> None:
    strangers = [
        f"{path.relative_to(ROOT)}:{line}"
        for path in sources()
        if str(path.relative_to(ROOT)) not in BUILDERS
        for line in builders(ast.parse(path.read_text()))
    ]

    assert strangers == []


@pytest.mark.parametrize(
    "stray",
    [
        "from cogni_domain.access.predicate import Eq\nx = Eq('tenant', 'acme')",
        "from cogni_domain.access.predicate import All as Every\nx = Every(())",
        "from cogni_domain.access import predicate\nx = predicate.Overlaps('readers', frozenset())",
        "import cogni_domain.access.predicate as p\nx = p.OneOf('corpus', frozenset())",
    ],
)
def test_a_second_builder_is_caught(stray: str) -> None:
    assert builders(ast.parse(stray)) == [2]


def test_matching_a_predicate_is_not_building_one() -> None:
    code = (
        "from cogni_domain.access.predicate import Eq\nmatch x:\n    case Eq(f, v):\n        pass"
    )

    assert builders(ast.parse(code)) == []


def port_names() -> set[str]:
    found = {
        node.name
        for path in PORTS.glob("*.py")
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.ClassDef) and node.name.endswith("Port")
    }
    return found | ENGINE_PORTS


def satisfied(tree: ast.Module, ports: set[str]) -> dict[str, list[str]]:
    """Return each class of a module with the ports that it names as its bases."""
    return {
        node.name: [ast.unparse(base) for base in node.bases if ast.unparse(base) in ports]
        for node in tree.body
        if isinstance(node, ast.ClassDef)
    }


def adapter_files() -> list[Path]:
    return sorted((ROOT / "libs/adapters/cogni_adapters").glob("*/**/*.py"))


def test_an_adapter_satisfies_exactly_one_port() -> None:
    ports = port_names()
    wrong = [
        f"{path.relative_to(ROOT)}: {name} satisfies {found}"
        for path in adapter_files()
        for name, found in satisfied(ast.parse(path.read_text()), ports).items()
        if len(found) > 1 or (name.endswith("Adapter") and len(found) != 1)
    ]

    assert wrong == []


def test_an_adapter_of_two_ports_is_caught() -> None:
    code = "class TwoAdapter(VectorStorePort, KeywordSearchPort): ..."

    assert satisfied(ast.parse(code), port_names()) == {
        "TwoAdapter": ["VectorStorePort", "KeywordSearchPort"]
    }


def test_every_port_has_an_adapter_and_a_contract() -> None:
    ports = port_names()
    adapted = {
        p
        for path in adapter_files()
        for found in satisfied(ast.parse(path.read_text()), ports).values()
        for p in found
    }
    named = {
        path.stem.replace("_", "")
        for path in (ROOT / "libs/testing/cogni_testing/contracts").glob("*.py")
    }

    assert ports - adapted == set()
    assert {p for p in ports if p.removesuffix("Port").lower() not in named} == set()
