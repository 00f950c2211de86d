"""Number formats, as a sheet shows them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogni_adapters.extraction.number_format import BUILT_IN, format_number

DOLLARS = '"$"#,##0.00_);[Red]\\("$"#,##0.00\\)'


@pytest.mark.parametrize(
    ("value", "code", "shown"),
    [
        (1599.99, BUILT_IN[4], "1,599.99"),
        (-1599.99, BUILT_IN[4], "-1,599.99"),
        (1599.99, DOLLARS, "$1,599.99"),
        (-1599.99, DOLLARS, "($1,599.99)"),
        (198356388, BUILT_IN[11], "1.98E+08"),
        (0.00012, "0.0E-00", "1.2E-04"),
        (0.025, "0%", "3%"),
        (0.025, "0.00%", "2.50%"),
        (0.123, "0.0 %", "12.3 %"),
        (2.5, BUILT_IN[12], "2 1/2"),
        (0.75, BUILT_IN[13], "3/4"),
        (4, BUILT_IN[12], "4"),
        (2.26, "# ?/4", "2 1/4"),
        (19.99, '0\\ "dollars and"\\ .00\\ "cents"', "19 dollars and .99 cents"),
        (12345.678, "#,##0.0,", "12.3"),
        (1500000, '0.0,,"M"', "1.5M"),
        (123456789, "000-00-0000", "123-45-6789"),
        (7, "000", "007"),
        (3.1, "0.0##", "3.1"),
        (1234.5, "[$€-407] #,##0.00", "€ 1,234.50"),
        (0, '0;-0;"none"', "none"),
        (0, "0;;", ""),
        (-5, "0;(0)", "(5)"),
        (5, '[>3]"big" 0;"small" 0', "big 5"),
        (2, '[>3]"big" 0;"small" 0', "small 2"),
        (12, "@", "12"),
        (3, "General", "3"),
        (0.1 + 0.2, "General", "0.3"),
        (1234567890123, "General", "1.23457E+12"),
        (1e-7, "General", "1E-07"),
        (33966.260424618056, BUILT_IN[18], "6:15 AM"),
        (33966.760424803244, BUILT_IN[20], "18:15"),
        (40089.85, BUILT_IN[14], "10/3/2009"),
        (39219.85, BUILT_IN[15], "17-May-07"),
        (45000.5, "yyyy-mm-dd hh:mm:ss", "2023-03-15 12:00:00"),
        (0.5, "mm:ss.0", "00:00.0"),
        (1.5, "[h]:mm", "36:00"),
        (59, "yyyy-mm-dd", "1900-02-28"),
        (45000, "[$-F800]dddd\\,\\ mmmm\\ dd\\,\\ yyyy", "Wednesday, March 15, 2023"),
        (1e9, "yyyy", "1000000000"),
        (float("inf"), "0", "inf"),
    ],
)
def test_a_number_is_shown_by_its_code(value: float, code: str, shown: str) -> None:
    assert format_number(value, code) == shown


def test_the_calendar_of_1904_counts_from_its_own_day() -> None:
    assert format_number(0, "yyyy-mm-dd", from_1904=True) == "1904-01-01"


@given(
    st.floats(allow_nan=True),
    st.text(st.sampled_from('0#?.,%E+-/@;[]">\\_*yYmMdDhHsSAP/M Generalx$€'), max_size=25),
)
def test_any_number_is_shown_by_any_code(value: float, code: str) -> None:
    assert isinstance(format_number(value, code), str)
