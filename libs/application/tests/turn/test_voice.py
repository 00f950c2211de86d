import json
import os
from pathlib import Path
from typing import Any

import pytest

from cogni_application.turn.answer_tokens import MAX_GROUP
from cogni_application.turn.ground import Evidence
from cogni_application.turn.voice import RunVoice
from cogni_domain.governance.output_policy import OutputPolicy
from cogni_domain.knowledge.citations import Unissued
from cogni_domain.knowledge.hidden_text import neutralise_hidden_text
from cogni_domain.run_record import Step, StripStep
from cogni_engine import Delta, TokenDelta

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
