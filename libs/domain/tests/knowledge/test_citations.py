import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogni_domain.access.tokens import EVERYONE
from cogni_domain.knowledge.citations import CitationIssuer, Unissued
from cogni_domain.knowledge.corpus import Chunk, chunk_id
from cogni_kernel import CorpusId, DocumentId, RunRef, TenantId


def passage(ordinal: int) -> Chunk:
    document = DocumentId("d1")
    return Chunk(
        id=chunk_id(document, 1, ordinal),
        document_id=document,
        corpus_id=CorpusId("handbook"),
        tenant_id=TenantId("acme"),
        title="Leave",
        ordinal=ordinal,
        text="You get 28 days.",
        heading=("Leave", "How much"),
        locator="line 3",
        readers=frozenset({EVERYONE}),
        document_version=1,
    )


@given(st.lists(st.integers(0, 20)))
def test_a_passage_keeps_its_handle_and_each_handle_resolves_to_its_passage(
    given_to_the_model: list[int],
) -> None:
    issuer = CitationIssuer(RunRef("r1"))

    issued = [issuer.issue(passage(n)) for n in given_to_the_model]

    distinct = list(dict.fromkeys(given_to_the_model))
    assert [str(c.handle) for c in issuer.issued()] == [f"s{n + 1}" for n in range(len(distinct))]
    for n, citation in zip(given_to_the_model, issued, strict=True):
        assert citation.chunk_id == passage(n).id
        assert issuer.resolve(str(citation.handle)) is citation


def test_a_citation_says_what_and_where() -> None:
    citation = CitationIssuer(RunRef("r1")).issue(passage(0))

    assert (citation.label, citation.locator) == ("Leave", "How much › line 3")


@pytest.mark.parametrize("token", ["", "s0", "s2", "S1", "s01", " s1", "s1 ", "[s1]", "s１"])
def test_a_handle_that_was_not_issued_to_the_letter_is_unissued(token: str) -> None:
    issuer = CitationIssuer(RunRef("r1"))
    issuer.issue(passage(0))

    assert issuer.resolve(token) is Unissued.UNISSUED


def test_a_handle_of_another_run_is_unissued() -> None:
    first, second = CitationIssuer(RunRef("r1")), CitationIssuer(RunRef("r2"))
    old = first.issue(passage(0))

    second.go_on_from(2)
    new = second.issue(passage(0))

    assert str(new.handle) == "s2"
    assert second.resolve(str(old.handle)) is Unissued.UNISSUED
    assert second.has_issued(passage(0).id)
    assert not second.has_issued(passage(1).id)
