"""The code in the guide for connectors runs, and the places that it names are there."""

import importlib.util
import re
from pathlib import Path

import pytest

GUIDE = Path(__file__).parents[4] / "docs/guides/connector.md"
TEXT = GUIDE.read_text()
BLOCKS = re.findall(r"^```python\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
CLASSES = sorted(set(re.findall(r"`((?:filesystem|wiki|ticketing)\.\w+\.\w+Adapter)`", TEXT)))


@pytest.mark.parametrize("block", BLOCKS)
def test_a_block_of_the_guide_runs(block: str) -> None:
    exec(compile(block, str(GUIDE), "exec"), {})


@pytest.mark.parametrize("named", CLASSES)
def test_a_class_of_the_guide_is_where_it_says(named: str) -> None:
    module, _, name = named.rpartition(".")
    found = importlib.util.find_spec(f"cogni_adapters.{module}")

    assert found is not None
    assert found.origin is not None
    assert f"class {name}(" in Path(found.origin).read_text()


def test_the_guide_has_code_and_names_every_connector() -> None:
    assert len(BLOCKS) == 1
    assert len(CLASSES) == 9
