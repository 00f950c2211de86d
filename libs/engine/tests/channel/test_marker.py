import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogni_engine import Marker, MarkerKind

MARKER = re.compile(r"\[\[[A-Z]{1,16}:[a-z][1-9][0-9]{0,8}\]\]")
markers = st.builds(
    lambda kind, number: Marker(kind, f"{kind.value}{number}"),
    st.sampled_from(MarkerKind),
    st.integers(1, 999_999_999),
)
fragments = st.sampled_from(
    [
        "[[",
        "]]",
        "[",
        "]",
        "[[CHART:",
        "c9",
        "c3]]",
        ":",
        "[[TABLE:b1]]",
        "[[CHART:c3]]",
        "[[NOPE:x1]]",
        "[[CHART:c9]]",
        "[[CHART:b9]]",
        "[[chart:c9]]",
        "text",
        "é",
    ]
)
texts = st.lists(fragments | markers.map(str), max_size=12).map("".join)


def only_c3(marker: Marker) -> bool:
    return str(marker) == "[[CHART:c3]]"


@given(markers)
def test_a_marker_is_read_back_as_it_was_written(marker: Marker) -> None:
    assert Marker.parse(str(marker)) == marker
    assert Marker.scan(f"see {marker}, {marker}.") == (marker, marker)


@given(st.lists(st.sampled_from(["a ", "[", "] ", "é"]) | markers, max_size=8))
def test_markers_are_found_in_order_and_nothing_else_is(pieces: list[str | Marker]) -> None:
    written = "".join(f" {piece} " for piece in pieces)

    assert list(Marker.scan(written)) == [p for p in pieces if isinstance(p, Marker)]


@given(texts)
def test_stripping_twice_is_stripping_once(text: str) -> None:
    clean, _ = Marker.strip_unresolved(text, only_c3)

    assert Marker.strip_unresolved(clean, only_c3) == (clean, ())


@given(texts)
def test_nothing_unresolved_is_left_whatever_closes_up(text: str) -> None:
    clean, removed = Marker.strip_unresolved(text, only_c3)

    assert set(MARKER.findall(clean)) <= {"[[CHART:c3]]"}
    assert "[[CHART:c3]]" not in removed
    assert len(clean) + sum(map(len, removed)) == len(text)


@given(st.lists(st.sampled_from(["a ", "[", "] ", "é"]) | markers.map(str), max_size=8))
def test_what_can_be_resolved_stays_where_it_is(pieces: list[str]) -> None:
    text = " ".join(pieces)

    assert Marker.strip_unresolved(text, lambda _: True) == (text, ())


def test_a_kind_that_does_not_exist_is_never_asked_for() -> None:
    asked: list[Marker] = []

    def ask(marker: Marker) -> bool:
        asked.append(marker)
        return True

    clean, removed = Marker.strip_unresolved("a [[NOPE:c1]]", ask)

    assert (clean, removed, asked) == ("a ", ("[[NOPE:c1]]",), [])


def test_a_marker_hidden_inside_a_marker_is_removed_as_well() -> None:
    clean, removed = Marker.strip_unresolved("a [[CHART:[[CHART:c9]]c8]] b", only_c3)

    assert clean == "a  b"
    assert removed == ("[[CHART:c9]]", "[[CHART:c8]]")


def test_a_hostile_text_is_stripped_in_reasonable_time() -> None:
    clean, removed = Marker.strip_unresolved("[[CHART:" * 5_000 + "c9]]" * 5_000, only_c3)

    assert (clean, len(removed)) == ("", 5_000)


@pytest.mark.parametrize(
    "text",
    [
        "", "[[CHART:c3]", "[CHART:c3]", "[[CHART:c3]] ", " [[CHART:c3]]", "[[chart:c3]]",
        "[[CHART:c0]]", "[[CHART:c03]]", "[[CHART:c]]", "[[CHART:b3]]", "[[CHART:C3]]",
        "[[NOPE:n3]]", "[[CHART: c3]]", "[[CHART:c٣]]", "[[CHART:c3]]\n", "[[CHART:c1234567890]]",
    ],
)  # fmt: skip
def test_what_is_almost_a_marker_is_none(text: str) -> None:
    assert Marker.parse(text) is None


@pytest.mark.parametrize("ref", ["", "3", "c", "c0", "c03", "b3", "c3 ", "C3", "c3\n", "c٣"])
def test_a_reference_of_another_shape_is_refused(ref: str) -> None:
    with pytest.raises(ValueError, match="a CHART reference is like c3"):
        Marker(MarkerKind.CHART, ref)


def test_every_kind_has_a_letter_of_its_own() -> None:
    assert len({kind.value for kind in MarkerKind}) == len(MarkerKind)
    assert all(len(str(Marker(kind, f"{kind.value}1"))) <= 16 for kind in MarkerKind)
