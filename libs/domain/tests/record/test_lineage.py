"""What comes from documents is shown to who may still read all of them."""

from collections.abc import Iterable
from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from cogni_domain.access.scope import Scope
from cogni_domain.conversations import PastTurn
from cogni_domain.lineage import LineagePolicy, Readable
from cogni_kernel import DocumentId, Err, HumanText, Ok, Result, RunRef, UpstreamError
from cogni_testing import START, fake_scope, ok

DOWN = Err(UpstreamError(HumanText("It does not answer.")))
documents = st.frozensets(st.sampled_from("abcd").map(DocumentId))
SCOPE = fake_scope()


@dataclass
class Library(Readable):
    allowed: frozenset[DocumentId]
    looks: int = 0

    async def readable(
        self, documents: Iterable[DocumentId], scope: Scope
    ) -> Result[frozenset[DocumentId]]:
        self.looks += 1
        return Ok(frozenset(documents) & self.allowed)


class Down(Readable):
    async def readable(
        self, documents: Iterable[DocumentId], scope: Scope
    ) -> Result[frozenset[DocumentId]]:
        return DOWN


def a_turn(number: int, lineage: frozenset[DocumentId]) -> PastTurn:
    return PastTurn(RunRef(f"r{number}"), START, "?", "!", "completed", lineage)


@given(documents, documents)
async def test_one_document_too_many_withholds_all_of_it(
    allowed: frozenset[DocumentId], lineage: frozenset[DocumentId]
) -> None:
    policy = LineagePolicy(Library(allowed))

    assert ok(await policy.may_read_all(lineage, SCOPE)) == (lineage <= allowed)


@given(documents, st.lists(documents, max_size=5))
async def test_every_turn_is_judged_by_its_own_documents_in_one_look(
    allowed: frozenset[DocumentId], lineages: list[frozenset[DocumentId]]
) -> None:
    library = Library(allowed)
    turns = [a_turn(n, lineage) for n, lineage in enumerate(lineages)]

    judged = ok(await LineagePolicy(library).split(turns, SCOPE))

    assert judged == [(turn, turn.lineage <= allowed) for turn in turns]
    assert library.looks == 1


async def test_what_comes_from_nothing_may_be_read_without_a_look() -> None:
    library = Library(frozenset())

    assert ok(await LineagePolicy(library).may_read_all(frozenset(), SCOPE)) is True
    assert library.looks == 0


async def test_a_store_that_does_not_answer_shows_nothing() -> None:
    policy = LineagePolicy(Down())
    lineage = frozenset({DocumentId("a")})

    assert await policy.may_read_all(lineage, SCOPE) == DOWN
    assert await policy.split([a_turn(1, lineage)], SCOPE) == DOWN
