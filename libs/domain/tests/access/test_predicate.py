"""The reference evaluator: what a lost part admits is nothing."""

from hypothesis import given
from hypothesis import strategies as st

from cogni_domain.access.predicate import All, Eq, NoneOf, OneOf, Overlaps, Predicate, admits

FIELDS, VALUES = ("tenant", "corpus", "readers"), ("a", "b", "c")
values = st.frozensets(st.sampled_from(VALUES))
fields = st.sampled_from(FIELDS)
leaves: st.SearchStrategy[Predicate] = st.one_of(
    st.builds(Eq, fields, st.sampled_from(VALUES)),
    st.builds(OneOf, fields, values),
    st.builds(Overlaps, fields, values),
    st.builds(NoneOf, fields, values),
)
predicates = st.recursive(leaves, lambda p: st.builds(All, st.lists(p, max_size=3).map(tuple)))
labels = st.dictionaries(fields, values)


def expected(predicate: Predicate, held: dict[str, frozenset[str]]) -> bool:
    """Say the same in other words."""
    if isinstance(predicate, All):
        results = [expected(part, held) for part in predicate.parts]
        return len(results) > 0 and False not in results
    mine = sorted(held.get(predicate.field, ()))
    if isinstance(predicate, Eq):
        return mine == [predicate.value]
    shared = [value for value in mine if value in predicate.values]
    if isinstance(predicate, OneOf):
        return len(mine) == 1 and shared == mine
    return (shared == []) if isinstance(predicate, NoneOf) else shared != []


@given(predicates, labels)
def test_each_form_means_what_its_name_says(
    predicate: Predicate, held: dict[str, frozenset[str]]
) -> None:
    assert admits(predicate, held) == expected(predicate, held)


@given(labels)
def test_an_empty_conjunction_admits_nothing(held: dict[str, frozenset[str]]) -> None:
    assert not admits(All(()), held)
    assert not admits(All((All(()),)), held)


@given(labels)
def test_no_values_admit_nothing(held: dict[str, frozenset[str]]) -> None:
    assert not admits(Overlaps("readers", frozenset()), held)
    assert not admits(OneOf("corpus", frozenset()), held)


def test_a_passage_without_readers_is_read_by_nobody() -> None:
    assert not admits(Overlaps("readers", frozenset({"everyone"})), {"readers": frozenset()})
    assert not admits(Overlaps("readers", frozenset({"everyone"})), {})


def test_two_values_where_one_belongs_are_not_that_one() -> None:
    two = {"tenant": frozenset({"acme", "globex"})}

    assert not admits(Eq("tenant", "acme"), two)
    assert not admits(OneOf("tenant", frozenset({"acme", "globex"})), two)
