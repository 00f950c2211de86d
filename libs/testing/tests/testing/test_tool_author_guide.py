"""The guide for tool authors is executed: its code blocks are one module, and its tests are run."""

import re
import sys
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

GUIDE = Path(__file__).parents[4] / "docs/guides/tool-author.md"
BLOCKS = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NAMES = [
    "test_looking_for_a_room_books_none",
    "test_a_booking_waits_for_the_person",
    "test_what_nothing_was_found_for_is_not_answered_from_memory",
    "test_a_page_cannot_give_more_than_the_person_has",
]


@pytest.fixture(scope="module")
def guide() -> Iterator[ModuleType]:
    """The guide's code as a module; line numbers in a traceback are those of the guide."""
    text, module = GUIDE.read_text(), ModuleType("tool_author_guide")
    sys.modules[module.__name__] = module
    for block in BLOCKS.finditer(text):
        lines_above = text.count("\n", 0, block.start(1))
        exec(compile("\n" * lines_above + block[1], str(GUIDE), "exec"), module.__dict__)
    yield module
    del sys.modules[module.__name__]


def test_the_guide_has_the_four_tests(guide: ModuleType) -> None:
    assert [name for name in vars(guide) if name.startswith("test_")] == NAMES


@pytest.mark.parametrize("name", NAMES)
async def test_a_test_of_the_guide_passes(guide: ModuleType, name: str) -> None:
    test: Callable[[], Awaitable[None]] = getattr(guide, name)

    await test()
