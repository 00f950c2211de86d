"""The demo's questions can be answered as they say, from what the asking person may read."""

from pathlib import Path

import pytest

from cogni_acme.content import Item, load_content
from cogni_acme.people import load_people
from cogni_acme.questions import DemoQuestion, load_questions
from cogni_domain.access.rule import AccessRule

PLAIN = {".csv", ".eml", ".html", ".md", ".txt"}

QUESTIONS = load_questions()
READABLE: dict[str, dict[str, Item]] = {}


def _readable(person: str) -> dict[str, Item]:
    if person not in READABLE:
        principal = load_people().principal(person)
        READABLE[person] = {
            item.id: item
            for item in load_content(str(principal.tenant_id)).items()
            if isinstance(item.rule, AccessRule) and item.rule.admits(principal.tokens())
        }
    return READABLE[person]


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda q: f"{q.person}: {q.ask}")
def test_a_question_can_be_met_by_what_its_person_may_read(question: DemoQuestion) -> None:
    readable = _readable(question.person)

    if question.finds:
        found = readable[question.finds]
        if Path(found.name).suffix in PLAIN:
            assert all(words in found.data.decode() for words in question.says)
    for words in question.never:
        assert not [item.id for item in readable.values() if words.encode() in item.data]


def test_there_are_answerable_forbidden_and_unanswerable_questions() -> None:
    assert len(QUESTIONS) >= 25
    assert sum(bool(q.finds) for q in QUESTIONS) >= 20
    assert sum(bool(q.never) and not q.finds for q in QUESTIONS) >= 5
    assert sum(q.has_no_answer for q in QUESTIONS) >= 3


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("{ask: Why, as: ann, finds: wiki/x}", "Why: finds and says belong together"),
        ("{ask: Why, as: ann}", "Why: say what must come of it"),
        ("{ask: Why, as: ann, nothing: true, sais: [x]}", "unknown sais"),
    ],
)
def test_a_wrong_question_is_refused(tmp_path: Path, entry: str, message: str) -> None:
    path = tmp_path / "questions.yaml"
    path.write_text(f"questions:\n  - {entry}\n")

    with pytest.raises(ValueError, match=message):
        load_questions(path)
