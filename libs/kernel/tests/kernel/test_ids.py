import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogni_kernel import (
    ChunkId,
    ConversationId,
    CorpusId,
    DocumentId,
    GrantKey,
    Identifier,
    PrincipalId,
    ProposalId,
    RunRef,
    TenantId,
    ToolName,
)

CLASSES: list[type[Identifier]] = [
    ChunkId,
    ConversationId,
    CorpusId,
    DocumentId,
    GrantKey,
    PrincipalId,
    ProposalId,
    RunRef,
    TenantId,
    ToolName,
]
texts = st.text(min_size=1)
classes = st.sampled_from(CLASSES)


@given(texts, classes, classes)
def test_two_ids_are_equal_only_by_value_and_class(
    value: str, one: type[Identifier], other: type[Identifier]
) -> None:
    assert (one(value) == other(value)) is (one is other)


@given(texts, texts, classes)
def test_ids_of_one_class_are_values(left: str, right: str, kind: type[Identifier]) -> None:
    assert (kind(left) == kind(right)) is (left == right)
    assert len({kind(left), kind(left)}) == 1
    assert (kind(left) < kind(right)) is (left < right)


@given(texts, classes)
def test_an_id_reads_as_its_value_and_survives_pickling(value: str, kind: type[Identifier]) -> None:
    found = kind(value)

    assert str(found) == value
    assert pickle.loads(pickle.dumps(found)) == found


def test_an_id_never_equals_a_bare_string() -> None:
    tenant: object = TenantId("acme")

    assert tenant != "acme"


@pytest.mark.parametrize("kind", CLASSES)
def test_an_empty_id_is_refused(kind: type[Identifier]) -> None:
    with pytest.raises(ValueError, match=f"{kind.__name__} must not be empty"):
        kind("")


@pytest.mark.parametrize("kind", CLASSES)
def test_an_id_cannot_be_changed_or_added_to(kind: type[Identifier]) -> None:
    found: object = kind("one")

    with pytest.raises(AttributeError):
        found.value = "two"  # type: ignore[attr-defined]
    with pytest.raises((AttributeError, TypeError)):
        found.note = "more"  # type: ignore[attr-defined]


def test_ids_of_two_classes_have_no_order() -> None:
    tenant: object = TenantId("a")

    with pytest.raises(TypeError):
        assert tenant < CorpusId("b")  # type: ignore[operator]
