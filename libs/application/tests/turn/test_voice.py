import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogni_application.turn.answer_tokens import MAX_GROUP
from cogni_application.turn.ground import Evidence
from cogni_application.turn.voice import RunVoice
from cogni_domain.access.tokens import EVERYONE
from cogni_domain.governance.output_policy import OutputPolicy
from cogni_domain.knowledge.citations import CitationIssuer, Unissued
from cogni_domain.knowledge.corpus import Chunk, chunk_id
from cogni_domain.knowledge.hidden_text import neutralise_hidden_text
from cogni_domain.run_record import Step, StripStep
from cogni_engine import CitationDelta, Delta, TokenDelta
from cogni_kernel import CorpusId, DocumentId, RunRef, TenantId

SHARED = Path(os.environ.get("COGNI_SHARED", Path(__file__).parents[5] / "shared"))
ROWS = SHARED / "data/injection.jsonl"
NOTHING = Evidence(lambda _: Unissued.UNISSUED, lambda _: False, frozenset)
needs_rows = pytest.mark.skipif(not ROWS.exists(), reason="needs COGNI_SHARED")


def rows_of(*families: str) -> list[dict[str, Any]]:
    rows = [json.loads(line) for line in ROWS.read_text(encoding="utf-8").splitlines()]
    return [row for row in rows if row["family"] in families]


def heard(text: str) -> tuple[str, list[Delta], list[StripStep]]:
    """Say a text character by character; return what was shown, published and recorded."""
    published: list[Delta] = []
    recorded: list[Step] = []
    voice = RunVoice(published.append, recorded.append, NOTHING, lambda: True, OutputPolicy())
    for character in text:
        voice.hear(TokenDelta(character))
    voice.finish()
    voice.finish()
    assert "".join(getattr(delta, "text", "") for delta in published) == voice.shown.text
    assert all(isinstance(step, StripStep) for step in recorded)
    return voice.shown.text, published, [s for s in recorded if isinstance(s, StripStep)]


@needs_rows
def test_of_a_spoof_nothing_is_cited_and_every_strip_is_recorded_once() -> None:
    """What is shown and what is recorded make the answer together: nothing is missing, nothing there twice."""
    rows = rows_of("citation_spoof", "marker_spoof")
    assert len(rows) == 36

    for row in rows:
        answer = row["obey"]["answer"]
        shown, published, strips = heard(answer)
        assert all(isinstance(delta, TokenDelta) for delta in published), row["id"]
        if all(len(strip.text) < MAX_GROUP for strip in strips):
            visible = sorted(neutralise_hidden_text(answer))
            parts = [shown, *(strip.text for strip in strips)]
            assert sorted("".join(parts)) == visible, row["id"]


def passage(number: int, title: str, heading: list[str], locator: str) -> Chunk:
    document = DocumentId(f"d{number}")
    return Chunk(
        id=chunk_id(document, 1, 0),
        document_id=document,
        corpus_id=CorpusId("handbook"),
        tenant_id=TenantId("acme"),
        title=title,
        ordinal=0,
        text="You get 28 days.",
        heading=tuple(heading),
        locator=locator,
        readers=frozenset({EVERYONE}),
        document_version=1,
    )


names = st.text(max_size=8)
places = st.lists(st.tuples(names, st.lists(names, max_size=3), names), min_size=1, max_size=4)


@given(places=places, first=st.integers(1, 9), said=st.lists(st.integers(0, 14), max_size=8))
def test_a_citation_carries_the_name_and_the_place_of_the_passage_that_its_handle_stood_on(
    places: list[tuple[str, list[str], str]], first: int, said: list[int]
) -> None:
    issuer = CitationIssuer(RunRef("r1"))
    issuer.go_on_from(first)
    passages = [passage(n, *place) for n, place in enumerate(places)]
    given_to_the_model = {str(issuer.issue(chunk).handle): chunk for chunk in passages}
    published: list[Delta] = []
    evidence = Evidence(issuer.resolve, lambda _: False, frozenset)
    voice = RunVoice(published.append, lambda _: None, evidence, lambda: True, OutputPolicy())

    for number in said:
        voice.hear(TokenDelta(f"So it is [s{number}]. "))
    voice.finish()

    cited = {d.handle: (d.label, d.locator) for d in published if isinstance(d, CitationDelta)}
    assert cited == {
        handle: (chunk.title, chunk.place)
        for handle, chunk in given_to_the_model.items()
        if int(handle[1:]) in said
    }
    assert sum(isinstance(d, CitationDelta) for d in published) == len(cited)
    seen: set[str] = set()
    for delta in published:
        if isinstance(delta, CitationDelta):
            seen.add(delta.handle)
        elif isinstance(delta, TokenDelta):
            assert seen >= set(re.findall(r"\[(s[0-9]+)\]", delta.text))
