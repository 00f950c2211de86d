"""Which model does which work, and where content may be processed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogni_domain.governance.routing import (
    HERE,
    NO_MODEL,
    ModelBinding,
    ResidencyRequirement,
    RoutingPolicy,
)
from cogni_kernel import DefinitionError, TaskClass, UpstreamError
from cogni_testing import err, ok

CHAT = TaskClass.CONVERSATIONAL
EU = ModelBinding("openai", "gpt-4.1-2025-04-14", "eu")
US = ModelBinding("anthropic", "claude-sonnet-4-6", "us")
NOWHERE = ModelBinding("anthropic", "claude-opus-5")
LOCAL = ModelBinding("reader", "local-reader@1", HERE)

regions = st.sampled_from(["eu", "us", "ch", " EU ", "", HERE])
bindings = st.builds(ModelBinding, st.just("p"), st.sampled_from(["a@1", "b@1"]), regions)
maps = st.dictionaries(st.sampled_from(TaskClass), bindings)
residencies = st.one_of(
    st.just(ResidencyRequirement.anywhere()),
    st.lists(regions).map(lambda names: ResidencyRequirement.within(*names)),
)


def test_each_kind_of_work_has_its_model_and_who_stands_in() -> None:
    policy = RoutingPolicy({CHAT: EU}, {CHAT: US})

    assert ok(policy.binding_for(CHAT)) == EU
    assert policy.fallback_for(CHAT) == US
    assert policy.fallback_for(TaskClass.JUDGING) is None


def test_work_that_nobody_does_is_told() -> None:
    error = err(RoutingPolicy({CHAT: EU}).binding_for(TaskClass.AMBIENT), UpstreamError)

    assert (error.message, error.retryable) == (NO_MODEL, False)


@pytest.mark.parametrize("version", ["", "gpt-4o", "mistral-large-latest"])
def test_a_version_that_may_change_is_refused(version: str) -> None:
    with pytest.raises(DefinitionError):
        ModelBinding("openai", version)


@pytest.mark.parametrize(
    ("outside", "words"), [(US, "is in us, .* processed in eu"), (NOWHERE, "not named")]
)
def test_a_binding_outside_the_residency_is_refused_with_its_name(
    outside: ModelBinding, words: str
) -> None:
    eu = ResidencyRequirement.within("eu")

    for by_class, fallback in (({CHAT: outside}, {}), ({CHAT: EU}, {CHAT: outside})):
        with pytest.raises(DefinitionError, match=f"{outside.version}.*{words}"):
            RoutingPolicy(by_class, fallback, eu)


def test_a_requirement_of_no_region_leaves_this_process_alone() -> None:
    nowhere = ResidencyRequirement.within()

    assert LOCAL.satisfies(nowhere)
    with pytest.raises(DefinitionError, match="this process alone"):
        RoutingPolicy({CHAT: EU}, residency=nowhere)


def test_an_organisation_in_a_region_has_nobody_from_outside_stand_in() -> None:
    policy = RoutingPolicy({CHAT: EU}, {CHAT: US}).under(ResidencyRequirement.within("eu"))

    assert ok(policy.binding_for(CHAT)) == EU
    assert policy.fallback_for(CHAT) is None


def test_who_stands_in_does_the_work_where_the_first_may_not() -> None:
    policy = RoutingPolicy({CHAT: US}, {CHAT: EU}).under(ResidencyRequirement.within("eu"))

    assert ok(policy.binding_for(CHAT)) == EU
    assert policy.fallback_for(CHAT) is None


def test_without_anybody_in_the_region_there_is_a_clear_error() -> None:
    policy = RoutingPolicy({CHAT: US}, {CHAT: NOWHERE}).under(ResidencyRequirement.within("eu"))

    assert err(policy.binding_for(CHAT), UpstreamError).message == NO_MODEL


@given(maps, maps, residencies, residencies)
def test_no_route_ever_leaves_the_region(
    by_class: dict[TaskClass, ModelBinding],
    fallback: dict[TaskClass, ModelBinding],
    one: ResidencyRequirement,
    other: ResidencyRequirement,
) -> None:
    policy = RoutingPolicy(by_class, fallback).under(one).under(other)

    routes = [*policy.by_class.values(), *policy.fallback.values()]
    assert all(b.satisfies(one) and b.satisfies(other) for b in routes)
    assert policy == RoutingPolicy(by_class, fallback).under(one.and_also(other))


@given(maps, maps, residencies)
def test_a_narrower_policy_names_nobody_new_and_nobody_twice(
    by_class: dict[TaskClass, ModelBinding],
    fallback: dict[TaskClass, ModelBinding],
    residency: ResidencyRequirement,
) -> None:
    policy = RoutingPolicy(by_class, fallback).under(residency)

    for task_class, binding in policy.by_class.items():
        assert binding in (by_class.get(task_class), fallback.get(task_class))
        assert policy.fallback_for(task_class) in (None, fallback.get(task_class))
        assert policy.fallback_for(task_class) != binding


@given(residencies, residencies, regions)
def test_two_requirements_together_admit_what_both_do(
    one: ResidencyRequirement, other: ResidencyRequirement, region: str
) -> None:
    both = one.and_also(other)

    assert both.admits(region) == (one.admits(region) and other.admits(region))
    assert both == other.and_also(one)
