from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogni_kernel import AttributedUsage, PrincipalId, RunRef, TaskClass, TokenCount, Usage

classes = st.sampled_from(TaskClass)
counts = st.integers(0, 10**9)


@st.composite
def usages(draw: st.DrawFn) -> Usage:
    calls = draw(st.integers(0, 5))
    return Usage(
        TokenCount(draw(counts)),
        TokenCount(draw(counts)),
        calls,
        draw(st.integers(0, calls)),
        draw(st.none() | classes) if calls else None,
    )


@given(usages(), usages(), usages())
def test_addition_does_not_depend_on_grouping(a: Usage, b: Usage, c: Usage) -> None:
    assert (a + b) + c == a + (b + c)


@given(usages(), usages())
def test_addition_does_not_depend_on_order(a: Usage, b: Usage) -> None:
    assert a + b == b + a


@given(usages())
def test_no_usage_adds_nothing(a: Usage) -> None:
    assert a + Usage.zero() == a
    assert Usage.zero() + a == a


@given(usages(), usages())
def test_figures_and_absence_add_up(a: Usage, b: Usage) -> None:
    both = a + b

    assert both.total == a.total + b.total == both.input + both.output
    assert both.calls == a.calls + b.calls
    assert both.is_absent is (a.is_absent or b.is_absent)


@given(classes, classes)
def test_a_sum_has_a_class_only_if_all_its_calls_have_that_one(
    one: TaskClass, other: TaskClass
) -> None:
    both = Usage(calls=1, task_class=one) + Usage(calls=1, task_class=other)

    assert both.task_class is (one if one is other else None)


@given(counts, counts, classes)
def test_both_provider_shapes_read_alike(read: int, written: int, task: TaskClass) -> None:
    expected = Usage(TokenCount(read), TokenCount(written), calls=1, task_class=task)

    assert Usage.from_provider({"input_tokens": read, "output_tokens": written}, task) == expected
    assert (
        Usage.from_provider({"prompt_tokens": read, "completion_tokens": written}, task) == expected
    )


def test_a_null_in_one_shape_gives_way_to_the_other() -> None:
    raw = {"input_tokens": None, "prompt_tokens": 7, "output_tokens": None, "completion_tokens": 2}

    assert Usage.from_provider(raw, TaskClass.JUDGING).total == 9


odd = st.none() | st.booleans() | st.floats() | st.text() | st.integers(max_value=-1)


@given(
    st.none()
    | st.dictionaries(
        st.sampled_from(["input_tokens", "output_tokens", "prompt_tokens", "completion_tokens"]),
        odd,
    )
    | st.lists(odd)
    | odd,
    classes,
)
def test_what_cannot_be_read_is_absent_and_never_breaks_a_run(
    raw: Mapping[str, object] | None, task: TaskClass
) -> None:
    assert Usage.from_provider(raw, task) == Usage.absent(task)


@pytest.mark.parametrize(
    "raw",
    [
        {},
        {"input_tokens": 5},
        {"completion_tokens": 5},
        {"input_tokens": 5, "output_tokens": 10**30},
    ],
)
def test_half_a_record_or_an_absurd_one_is_absent(raw: dict[str, object]) -> None:
    found = Usage.from_provider(raw, TaskClass.AMBIENT)

    assert found.is_absent
    assert found.calls == found.absent_calls == 1
    assert found.total == 0


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"input": -1}, "never negative"),
        ({"output": -1}, "never negative"),
        ({"calls": -1}, "never negative"),
        ({"calls": 1, "absent_calls": 2}, "more calls are absent"),
        ({"task_class": TaskClass.JUDGING}, "no call has no task class"),
    ],
)
def test_impossible_usage_is_refused(fields: dict[str, TokenCount], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        Usage(**fields)  # type: ignore[arg-type]


def test_usage_is_attributed_to_a_turn_and_a_principal() -> None:
    usage = Usage(TokenCount(3), TokenCount(4), 1, task_class=TaskClass.CONVERSATIONAL)
    cost = AttributedUsage(usage, RunRef("r1"), PrincipalId("u:41"))

    assert (cost.usage.total, cost.run, cost.principal) == (7, RunRef("r1"), PrincipalId("u:41"))
