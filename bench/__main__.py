"""`python -m bench [NAME]`: run one or all modules of this package; one JSON object a line."""

import importlib
import json
import pkgutil
import sys

import bench


def main(names: list[str]) -> int:
    """Run the named modules, or all; return 2 where there is none of that name."""
    known = sorted(m.name for m in pkgutil.iter_modules(bench.__path__) if m.name != "__main__")
    if unknown := sorted(set(names) - set(known)):
        print(
            f"no such benchmark: {', '.join(unknown)}; there are {', '.join(known)}",
            file=sys.stderr,
        )
        return 2
    for name in names or known:
        for figures in importlib.import_module(f"bench.{name}").run():
            print(json.dumps({"bench": name, **figures}), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
