"""What a lib exports is pinned, with what is promised of each name: a change of it is a decision."""

import ast
import importlib
import tomllib
from pathlib import Path

import pytest

from cogni_kernel import Stability

LIBS = Path(__file__).parents[2] / "libs"
PINNED = sorted(path.parent for path in LIBS.glob("*/public_names.toml"))
PROMISES = {level.value for level in Stability}


def front_door(lib: Path) -> Path:
    [init] = lib.glob("cogni_*/__init__.py")
    return init


def exported(lib: Path) -> list[str] | None:
    """Return the lib's `__all__` as it stands in its source; None where it has none."""
    for node in ast.parse(front_door(lib).read_text()).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            found: list[str] = ast.literal_eval(node.value)
            return found
    return None


WITH_A_DOOR = [lib for lib in PINNED if exported(lib) is not None]
WITHOUT_A_DOOR = [lib for lib in PINNED if exported(lib) is None]


def pinned(lib: Path) -> dict[str, str]:
    return tomllib.loads((lib / "public_names.toml").read_text())


def by_module(lib: Path) -> list[str]:
    """Return what the modules of a lib without a front door define in public, as `module.Name`."""
    package = front_door(lib).parent
    found: list[str] = []
    for path in sorted(package.rglob("*.py")):
        module = ".".join(path.relative_to(package).with_suffix("").parts)
        if not any(part.startswith("_") or part == "migrations" for part in path.parts[-2:]):
            found.extend(f"{module}.{name}" for name in _defined(ast.parse(path.read_text())))
    return found


def _defined(tree: ast.Module) -> list[str]:
    """Return public classes, functions and constants of a module, in order."""
    names: list[str] = []
    for node in tree.body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            names.append(node.name)
        elif isinstance(node, ast.Assign):
            names.extend(t.id for t in node.targets if isinstance(t, ast.Name))
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names.append(node.target.id)
    return [name for name in dict.fromkeys(names) if not name.startswith("_")]


def in_order(names: list[str]) -> list[str]:
    """Constants, then classes, then functions: the order that ruff keeps."""
    return sorted(names, key=lambda n: (not n.isupper(), not n[0].isupper(), n))


def complaints(names: list[str] | None, promises: dict[str, str]) -> list[str]:
    """Return what is wrong between a front door and its pins."""
    if names is None:
        return ["no __all__ to pin"]
    found = [f"exported, not pinned: {n}" for n in names if n not in promises]
    found += [f"pinned, not exported: {n}" for n in promises if n not in names]
    found += [f"exported twice: {n}" for n in sorted(set(names)) if names.count(n) > 1]
    found += [f"{n} = {level!r}" for n, level in promises.items() if level not in PROMISES]
    return found + (["__all__ is not in order"] if names != in_order(names) else [])


@pytest.mark.parametrize("lib", WITH_A_DOOR, ids=lambda lib: lib.name)
def test_a_lib_exports_what_is_pinned_and_nothing_else(lib: Path) -> None:
    assert complaints(exported(lib), pinned(lib)) == []


@pytest.mark.parametrize("lib", WITHOUT_A_DOOR, ids=lambda lib: lib.name)
def test_a_lib_of_many_rooms_defines_what_is_pinned_and_nothing_else(lib: Path) -> None:
    promises = pinned(lib)
    defined = set(by_module(lib))

    assert sorted(defined - set(promises)) == []
    assert sorted(set(promises) - defined) == []
    assert {level for level in promises.values() if level not in PROMISES} == set()


@pytest.mark.parametrize("lib", WITH_A_DOOR, ids=lambda lib: lib.name)
def test_every_pinned_name_can_be_imported(lib: Path) -> None:
    module = importlib.import_module(front_door(lib).parent.name)

    assert [name for name in pinned(lib) if not hasattr(module, name)] == []


def test_every_lib_pins_its_names() -> None:
    libs = {path.parent.name for path in LIBS.glob("*/pyproject.toml")}

    assert {lib.name for lib in PINNED} == libs


@pytest.mark.parametrize(
    ("names", "promises", "complaint"),
    [
        (None, {}, "no __all__ to pin"),
        (["A", "b"], {"A": "stable"}, "exported, not pinned: b"),
        (["A"], {"A": "stable", "b": "stable"}, "pinned, not exported: b"),
        (["A", "A"], {"A": "stable"}, "exported twice: A"),
        (["A"], {"A": "frozen"}, "A = 'frozen'"),
        (["a", "A"], {"a": "stable", "A": "stable"}, "__all__ is not in order"),
    ],
)
def test_a_drift_is_caught(
    names: list[str] | None, promises: dict[str, str], complaint: str
) -> None:
    assert complaints(names, promises) == [complaint]
