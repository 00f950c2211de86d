import copy
import pickle
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogni_kernel import (
    BudgetExceededError,
    ConflictError,
    DefinitionError,
    Error,
    ErrorMasker,
    HumanText,
    InvalidArgumentError,
    ModelFacingText,
    NotFoundError,
    NotPermittedError,
    TimeoutError,
    UpstreamError,
)

PLAIN: list[type[Error]] = [
    NotFoundError,
    NotPermittedError,
    InvalidArgumentError,
    UpstreamError,
    TimeoutError,
    BudgetExceededError,
    ConflictError,
]
RETRYABLE = {UpstreamError, TimeoutError}


class Hides:
    """Hides the existence of everything, as a policy for sensitive things does."""

    def hides_existence(self, error: Error) -> bool:
        return True


class Shows:
    def hides_existence(self, error: Error) -> bool:
        return False


@pytest.mark.parametrize("kind", PLAIN)
def test_every_error_carries_what_the_person_the_model_and_the_record_need(
    kind: type[Error],
) -> None:
    error = kind(
        HumanText("Ask for one page."), ModelFacingText("Ask again."), True, {"page": "p7"}
    )

    assert str(error.message) == "Ask for one page."
    assert str(error.model_hint) == "Ask again."
    assert error.retryable
    assert error.detail == {"page": "p7"}


@pytest.mark.parametrize("kind", PLAIN)
def test_only_what_may_pass_by_itself_is_retryable_by_default(kind: type[Error]) -> None:
    assert kind(HumanText("…")).retryable is (kind in RETRYABLE)


@pytest.mark.parametrize("kind", [*PLAIN, DefinitionError])
def test_every_error_descends_from_error_and_names_its_code(kind: type[Error]) -> None:
    assert issubclass(kind, Error)
    assert kind.__new__(kind).code == kind.__name__.removesuffix("Error")


@pytest.mark.parametrize("kind", PLAIN)
def test_an_error_is_a_value_and_nothing_that_can_be_raised(kind: type[Error]) -> None:
    error = kind(HumanText("No."))

    assert error == kind(HumanText("No."))
    assert error != kind(HumanText("Yes."))
    assert not isinstance(error, BaseException)
    with pytest.raises(AttributeError):
        error.message = HumanText("Yes.")  # type: ignore[misc]


def test_errors_of_two_classes_are_never_equal() -> None:
    made = [kind(HumanText("No."), None, False) for kind in PLAIN]

    assert all(a != b for a in made for b in made if a is not b)


def test_the_detail_is_no_part_of_what_an_error_says() -> None:
    bare = UpstreamError(HumanText("No."))
    known = UpstreamError(HumanText("No."), detail={"host": "db-3"})

    assert bare == known
    assert hash(bare) == hash(known)


def test_a_definition_error_is_raised_and_says_what_is_wrong() -> None:
    with pytest.raises(DefinitionError, match="needs a do_not_use clause") as raised:
        raise DefinitionError("the tool needs a do_not_use clause")

    assert raised.value.message == HumanText("the tool needs a do_not_use clause")
    assert raised.value.code == "Definition"
    assert not raised.value.retryable


def test_a_definition_error_passes_through_a_context_manager() -> None:
    @contextmanager
    def open_something() -> Iterator[None]:
        yield

    with pytest.raises(DefinitionError), open_something():
        raise DefinitionError("wrong")


def test_a_definition_error_can_be_copied_and_pickled() -> None:
    wrong = DefinitionError("two tools share a name")

    for same in (copy.copy(wrong), copy.deepcopy(wrong), pickle.loads(pickle.dumps(wrong))):
        assert same == wrong
        assert str(same) == "two tools share a name"


texts = st.text(max_size=20)
hints = st.none() | texts.map(ModelFacingText)
details = st.dictionaries(texts, texts, max_size=3)


@given(
    st.sampled_from([NotFoundError, NotPermittedError]),
    st.sampled_from([NotFoundError, NotPermittedError]),
    st.tuples(texts.map(HumanText), hints, st.booleans(), details),
    st.tuples(texts.map(HumanText), hints, st.booleans(), details),
)
def test_absent_and_forbidden_cannot_be_told_apart_where_existence_is_sensitive(
    one: type[Error],
    other: type[Error],
    first: tuple[HumanText, ModelFacingText | None, bool, dict[str, object]],
    second: tuple[HumanText, ModelFacingText | None, bool, dict[str, object]],
) -> None:
    left = ErrorMasker().mask(one(*first), Hides())
    right = ErrorMasker().mask(other(*second), Hides())

    assert repr(left) == repr(right)
    assert type(left) is type(right) is NotFoundError


@pytest.mark.parametrize("kind", PLAIN)
def test_masking_takes_the_detail_from_every_error_and_leaves_the_rest(kind: type[Error]) -> None:
    error = kind(HumanText("No."), ModelFacingText("Stop."), True, {"row": "41"})

    masked = ErrorMasker().mask(error, Shows())

    assert masked == error
    assert masked.detail == {}
    assert error.detail == {"row": "41"}


@pytest.mark.parametrize("kind", [k for k in PLAIN if k not in (NotFoundError, NotPermittedError)])
def test_an_error_that_is_not_about_existence_is_not_masked(kind: type[Error]) -> None:
    error = kind(HumanText("No."))

    assert ErrorMasker().mask(error, Hides()) == error


def test_an_authors_mistake_is_not_masked() -> None:
    wrong = DefinitionError("no grant")

    assert ErrorMasker().mask(wrong, Hides()) is wrong
