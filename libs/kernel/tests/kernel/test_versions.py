import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogni_kernel import (
    Deprecation,
    SemVer,
    Stability,
    VersionBound,
    VersionRange,
    stability,
)

numbers = st.integers(0, 3) | st.integers(0, 10**30)
identifiers = st.from_regex(r"\A(?:0|[1-9][0-9]{0,20}|[0-9]*[A-Za-z-][0-9A-Za-z-]*)\Z")
versions = st.builds(
    SemVer, numbers, numbers, numbers, st.lists(identifiers, max_size=3).map(tuple)
)

# The examples of semver.org 2.0.0, clauses 11.2 and 11.4, lowest first.
IN_ORDER = [
    "1.0.0-alpha",
    "1.0.0-alpha.1",
    "1.0.0-alpha.beta",
    "1.0.0-beta",
    "1.0.0-beta.2",
    "1.0.0-beta.11",
    "1.0.0-rc.1",
    "1.0.0",
    "2.0.0",
    "2.1.0",
    "2.1.1",
    "2.1.10",
]


def test_versions_are_ordered_as_semver_orders_them() -> None:
    read = [SemVer.parse(text) for text in IN_ORDER]

    assert all(a < b and b > a for a, b in itertools.combinations(read, 2))


@given(versions, versions, versions)
def test_the_order_is_total(a: SemVer, b: SemVer, c: SemVer) -> None:
    assert (a < b) + (a == b) + (a > b) == 1
    assert not (a <= b <= c) or a <= c


@given(versions)
def test_a_version_is_read_back_as_it_was_written(version: SemVer) -> None:
    assert SemVer.parse(str(version)) == version


@given(versions)
def test_a_pre_release_comes_before_its_release(version: SemVer) -> None:
    release = SemVer(version.major, version.minor, version.patch)

    assert (version < release) is bool(version.pre_release)


def test_build_metadata_has_no_rank() -> None:
    assert SemVer.parse("1.2.3+build.7") == SemVer.parse("1.2.3")
    assert SemVer.parse("1.0.0-rc.1+exp.sha-5114f85") == SemVer.parse("1.0.0-rc.1")


def test_a_number_too_long_to_count_is_still_ordered() -> None:
    short, long = SemVer(1, 0, 0, ("9",)), SemVer(1, 0, 0, ("1" * 5000,))

    assert short < long < SemVer(1, 0, 0, ("a",))


@pytest.mark.parametrize(
    "text",
    [
        "", "1", "1.2", "1.2.3.4", "v1.2.3", "01.2.3", "1.02.3", "1.2.03", "1.2.3-", "1.2.3-01",
        "1.2.3-a..b", "1.2.3+", "1.2.3 ", " 1.2.3", "1.2.3\n", "-1.2.3", "1.2.x", "1.2.٣", "1.2.3-é",
        "1.2." + "9" * 5000,
    ],
)  # fmt: skip
def test_what_is_no_semantic_version_is_refused(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - a number of 5,000 digits has Python's own words
        SemVer.parse(text)


@pytest.mark.parametrize(
    "fields", [(-1, 0, 0), (1, 0, 0, ("",)), (1, 0, 0, ("01",)), (1, 0, 0, ("a b",))]
)
def test_a_version_that_could_not_be_written_is_refused(fields: tuple[int, int, int]) -> None:
    with pytest.raises(ValueError, match="not a semantic version"):
        SemVer(*fields)


def test_a_version_has_no_order_with_anything_else() -> None:
    version: object = SemVer(1, 0, 0)

    assert version != "1.0.0"
    with pytest.raises(TypeError):
        assert version < "2.0.0"  # type: ignore[operator]


@pytest.mark.parametrize(
    ("wanted", "inside", "outside"),
    [
        ("1.2.3", "1.2.3", "1.2.4"),
        ("==1.2.3", "1.2.3+build", "1.2.3-rc.1"),
        (">=1.2.0,<2.0.0", "1.9.9", "2.0.0"),
        (" >= 1.2.0 , < 2.0.0 ", "1.2.0", "1.1.9"),
        (">1.2.0", "1.2.1", "1.2.0"),
        ("<=1.2.0", "1.2.0", "1.2.1"),
        ("<2.0.0", "2.0.0-rc.1", "2.0.0"),
        ("^1.2.3", "1.9.0", "2.0.0-rc.1"),
        ("^1.2.3", "1.2.3", "1.2.3-rc.1"),
        ("^0.2.3", "0.2.9", "0.3.0"),
        ("^0.0.3", "0.0.3", "0.0.4"),
        ("~1.2.3", "1.2.9", "1.3.0"),
        ("~1.2.3", "1.2.3", "1.3.0-rc.1"),
    ],
)
def test_a_range_takes_what_it_says(wanted: str, inside: str, outside: str) -> None:
    bounds = VersionRange.parse(wanted)

    assert SemVer.parse(inside).satisfies(bounds)
    assert not SemVer.parse(outside).satisfies(bounds)


@given(versions, versions)
def test_the_comparisons_of_a_range_are_those_of_versions(found: SemVer, bound: SemVer) -> None:
    def admits(operator: str) -> bool:
        return found.satisfies(VersionRange.parse(f"{operator}{bound}"))

    assert admits("<") is (found < bound)
    assert admits("<=") is (found <= bound)
    assert admits(">") is (found > bound)
    assert admits(">=") is (found >= bound)
    assert admits("==") is (found == bound)


@given(versions, versions)
def test_a_patch_range_lies_inside_the_compatible_one(found: SemVer, bound: SemVer) -> None:
    patches = found.satisfies(VersionRange.parse(f"~{bound}"))
    compatible = found.satisfies(VersionRange.parse(f"^{bound}"))

    assert not patches or compatible or bound < SemVer(0, 1, 0)
    assert not compatible or found >= bound


@pytest.mark.parametrize("text", ["", ",", ">=", "1.2.3,", "=1.2.3", "!=1.2.3", ">=1.2", "^x"])
def test_what_is_no_range_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"not a (version range|semantic version)"):
        VersionRange.parse(text)


def test_an_unknown_comparison_is_refused() -> None:
    with pytest.raises(ValueError, match="not a comparison: '!='"):
        VersionBound("!=", SemVer(1, 0, 0))


def test_a_name_is_marked_with_what_is_promised_of_it() -> None:
    @stability(Stability.EVOLVING)
    class Marked:
        pass

    @stability(Stability.INTERNAL)
    def marked() -> int:
        return 1

    assert getattr(Marked, "__stability__") is Stability.EVOLVING  # noqa: B009
    assert getattr(marked, "__stability__") is Stability.INTERNAL  # noqa: B009
    assert marked() == 1


def test_a_deprecated_name_outlives_the_release_of_its_replacement() -> None:
    going = Deprecation("old", SemVer(1, 2, 0), "new", SemVer(1, 4, 0))

    assert going.remove_after > going.declared_in
    for too_soon in (SemVer(1, 2, 0), SemVer(1, 1, 0)):
        with pytest.raises(ValueError, match="old: remove_after must be later"):
            Deprecation("old", SemVer(1, 2, 0), "new", too_soon)
