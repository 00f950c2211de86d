"""What a reader may not see moves neither what is found, nor its order, nor its scores."""

import asyncio
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cogni_adapters.tantivy.keyword_search import TantivyKeywordSearchAdapter
from cogni_domain.access.rule import AccessRule
from cogni_domain.knowledge.corpus import Chunk, Hit
from cogni_kernel import DocumentId
from cogni_testing.assertions import ok
from cogni_testing.contracts.keyword_matching import INDEX
from cogni_testing.contracts.knowledge import EVERYONE, HR, NOBODY, a_document, passages
from cogni_testing.fixtures import fake_principal, fake_scope

READER = fake_scope(fake_principal(id="alice"))
WORDS = ("leave", "parental", "sick", "travel", "the", "of", "年假", "req-4471")


@dataclass(frozen=True)
class Event:
    """What happens to a document: new passages as lists of terms, no passages any more, or other readers."""

    name: str
    rule: AccessRule
    texts: tuple[tuple[str, ...], ...] | None


texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=12).map(tuple)
histories = st.lists(
    st.builds(
        Event,
        st.sampled_from([f"d{number}" for number in range(6)]),
        st.sampled_from([EVERYONE, HR, NOBODY, AccessRule.any_of("u:alice", "g:wiki/hr")]),
        st.none() | st.lists(texts, max_size=4).map(tuple),
    ),
    min_size=1,
    max_size=40,
)
questions = st.lists(
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=5), min_size=4, max_size=8
)


def outcome(history: Sequence[Event]) -> dict[str, Event]:
    """Return how each document stands in the end: the reference."""
    standing: dict[str, Event] = {}
    for event in history:
        before = standing.get(event.name, event)
        texts = before.texts if event.texts is None else event.texts
        standing[event.name] = Event(event.name, event.rule, texts or ())
    return standing


def is_visible(event: Event) -> bool:
    return event.rule.admits(READER.principal.tokens())


def passages_of(event: Event) -> list[Chunk]:
    texts = event.texts or ()
    return passages(a_document(event.name, event.rule), *map(" ".join, texts)) if texts else []


async def apply(search: TantivyKeywordSearchAdapter, event: Event) -> None:
    name = DocumentId(event.name)
    if event.texts is None:
        ok(await search.relabel(INDEX, name, event.rule.readers))
    elif event.texts:
        ok(await search.upsert(INDEX, passages_of(event), event.texts))
    else:
        ok(await search.delete(INDEX, [name]))


async def ask(
    search: TantivyKeywordSearchAdapter, asked: Sequence[Sequence[str]]
) -> list[Sequence[Hit]]:
    return [
        ok(await search.search(INDEX, question, READER.predicate, k))
        for question in asked
        for k in (1, 3, 100)
    ]


async def both_worlds(
    history: Sequence[Event], asked: Sequence[Sequence[str]], folder: Path
) -> list[list[Sequence[Hit]]]:
    """Return the answers after this history, and those of a new index with the visible rest of it alone."""
    rest = sorted(filter(is_visible, outcome(history).values()), key=lambda e: e.name, reverse=True)
    answers = []
    for name, events in (("whole", history), ("rest", rest)):
        search = TantivyKeywordSearchAdapter(folder / name)
        for event in events:
            await apply(search, event)
        answers.append(await ask(search, asked))
        await search.close()
    return answers


@pytest.mark.slow
@settings(suppress_health_check=[HealthCheck.too_slow], max_examples=30, deadline=None)
@given(histories, questions)
def test_the_answer_is_that_of_a_world_without_what_is_hidden(
    history: list[Event], asked: list[list[str]]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        whole, rest = asyncio.run(both_worlds(history, asked, Path(folder)))

    assert whole == rest
    visible = [event for event in outcome(history).values() if is_visible(event)]
    for question, hits in zip(asked, whole[2::3], strict=True):
        assert {hit.chunk_id for hit in hits} == {
            chunk.id
            for event in visible
            for chunk in passages_of(event)
            if set(chunk.text.split()) & set(question)
        }


async def test_order_holds_among_thousands_of_equal_and_hidden_passages(tmp_path: Path) -> None:
    visible = [a_document(f"v{number}") for number in range(300)]
    hidden = [a_document(f"h{number}", HR) for number in range(1_500)]
    whole, rest = (TantivyKeywordSearchAdapter(tmp_path / name) for name in ("whole", "rest"))
    for search, documents in ((whole, [*hidden, *visible]), (rest, visible[::-1])):
        chunks = [passages(document)[0] for document in documents]
        terms = [["leave", "of"] if int(str(c.document_id)[1:]) % 3 else ["leave"] for c in chunks]
        for start in range(0, len(chunks), 200):
            ok(await search.upsert(INDEX, chunks[start : start + 200], terms[start : start + 200]))

    answers = [await ask(search, [["leave"], ["of", "leave"]]) for search in (whole, rest)]

    assert answers[0] == answers[1]
    assert len(answers[0][2]) == 100
    await whole.close()
    await rest.close()
