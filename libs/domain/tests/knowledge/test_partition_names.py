from hypothesis import given
from hypothesis import strategies as st

from cogni_domain.knowledge.corpus import IndexId
from cogni_domain.knowledge.partition_names import kept, partition_name, read_back
from cogni_kernel import CorpusId, TenantId


@given(st.text(st.characters(exclude_categories=())))
def test_any_text_is_kept_as_utf_8_and_comes_back(text: str) -> None:
    assert read_back(kept(text).encode().decode()) == text


def test_indexes_that_look_alike_have_names_of_their_own() -> None:
    places = [("a/b", "c"), ("a", "b/c"), ("A", "b/c"), ("a", 'b","c')]
    indexes = [IndexId(TenantId(t), CorpusId(c), g) for t, c in places for g in (1, 2)]

    assert len({partition_name(index) for index in indexes}) == len(indexes)
