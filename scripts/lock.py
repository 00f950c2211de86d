"""Write requirements.lock: every third-party package and build back end, pinned with hashes.

The workspace's own packages are left out: they are installed editable, without dependencies.
"""

import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent


def wanted() -> tuple[list[str], list[str]]:
    """Return (requirements to resolve, requirements to pin without their dependencies)."""
    found: set[str] = set()
    for file in sorted(ROOT.glob("*/*/pyproject.toml")):
        settings = tomllib.loads(file.read_text())
        project = settings["project"]
        found.update(project.get("dependencies", []))
        for extra in project.get("optional-dependencies", {}).values():
            found.update(extra)
        found.update(settings["build-system"]["requires"])
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text())["dependency-groups"]
    found.update(groups["dev"])
    return sorted(r for r in found if not r.startswith("cogni-")), groups["bare"]


def compiled(requirements: list[str], *more: str) -> str:
    command = ["uv", "pip", "compile", "-q", "-", "--universal", "--python-version", "3.11"]
    command += ["--generate-hashes", "--no-header", "--no-annotate", "--no-emit-index-url", *more]
    done = subprocess.run(
        command, input="\n".join(requirements), text=True, capture_output=True, check=False
    )
    if done.returncode:
        sys.exit(done.stderr)
    return done.stdout


def main() -> None:
    full, bare = wanted()
    (ROOT / "requirements.lock").write_text(compiled(full) + compiled(bare, "--no-deps"))


if __name__ == "__main__":
    main()
