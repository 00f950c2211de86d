import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogni_domain.knowledge.locators import covering, narrowed


@pytest.mark.parametrize(
    ("locators", "expected"),
    [
        ([], ""),
        ([""], ""),
        (["page 3"], "page 3"),
        (["page 3", "page 3"], "page 3"),
        (["page 3", "page 4"], "pages 3-4"),
        (["pages 3-4", "page 9"], "pages 3-9"),
        (["", "slide 2", ""], "slide 2"),
        (["lines 1-4", "lines 6-9"], "lines 1-9"),
        (["Log!A1:B9", "Log!A10:C12"], "Log!A1:C12"),
        (["Log!Y1:AA9", "Log!Z10:Z12"], "Log!Y1:AA12"),
        (["Log!A1:B9", "Other!A1:B9"], "Log!A1:B9 to Other!A1:B9"),
        (["page 3", "slide 4"], "page 3 to slide 4"),
        (["message of 3 May", "page 4"], "message of 3 May to page 4"),
        (["Q4!plan!A1:B2", "Q4!plan!A3:B4"], "Q4!plan!A1:B4"),
    ],
)
def test_one_place_covers_several(locators: list[str], expected: str) -> None:
    assert covering(locators) == expected


@pytest.mark.parametrize(
    ("locator", "lines", "first", "last", "expected"),
    [
        ("lines 10-14", 5, 0, 4, "lines 10-14"),
        ("lines 10-14", 5, 1, 1, "line 11"),
        ("rows 2-4", 3, 1, 2, "rows 3-4"),
        ("Log!A1:D20", 20, 11, 19, "Log!A12:D20"),
        ("Log!A5:D8", 5, 0, 2, "Log!A5:D6"),
        ("Log!A5:D8", 5, 3, 4, "Log!A7:D8"),
        ("Log!A5:D8", 9, 0, 1, "Log!A5:D8"),
        ("lines 10-14", 3, 0, 1, "lines 10-14"),
        ("page 3", 1, 0, 0, "page 3"),
        ("", 4, 1, 2, ""),
    ],
)
def test_a_part_has_its_own_place_where_lines_are_counted(
    locator: str, lines: int, first: int, last: int, expected: str
) -> None:
    assert narrowed(locator, lines, first, last) == expected


@given(st.integers(1, 50), st.integers(1, 30), st.data())
def test_a_narrowed_place_lies_in_the_whole(start: int, lines: int, data: st.DataObject) -> None:
    first, last = sorted(data.draw(st.tuples(*[st.integers(0, lines - 1)] * 2)))
    whole = f"lines {start}-{start + lines - 1}" if lines > 1 else f"line {start}"

    assert covering([whole, narrowed(whole, lines, first, last)]) == whole
