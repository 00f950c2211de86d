"""The questions that the demo is judged by, as questions.yaml has them."""

from dataclasses import dataclass
from pathlib import Path

from cogni_acme.shape import listing, mapping, read_yaml, text, texts

QUESTIONS = Path(__file__).parent / "questions.yaml"

_KEYS = frozenset({"ask", "as", "finds", "says", "never", "nothing"})


@dataclass(frozen=True, slots=True)
class DemoQuestion:
    """One question by one person.

    Attributes:
        finds: The id of the item that the answer must cite; empty where none must be.
        says: Words that must be in the answer.
        never: Words that must not be.
        has_no_answer: Whether nothing in the content answers it, for anybody.
    """

    ask: str
    person: str
    finds: str
    says: tuple[str, ...]
    never: tuple[str, ...]
    has_no_answer: bool


def load_questions(path: Path = QUESTIONS) -> tuple[DemoQuestion, ...]:
    """Read questions.yaml.

    Raises:
        ValueError: An entry is wrong; says which.
    """
    root = mapping(read_yaml(path), "questions", frozenset({"questions"}))
    return tuple(_question(entry) for entry in listing(root.get("questions"), "questions"))


def _question(value: object) -> DemoQuestion:
    found = mapping(value, "question", _KEYS)
    ask = text(found.get("ask"), "question, ask")
    question = DemoQuestion(
        ask,
        text(found.get("as"), ask),
        text(found["finds"], ask) if "finds" in found else "",
        texts(found.get("says", []), ask),
        texts(found.get("never", []), ask),
        found.get("nothing", False) is True,
    )
    if bool(question.finds) != bool(question.says):
        raise ValueError(f"{ask}: finds and says belong together")
    if not (question.finds or question.never or question.has_no_answer):
        raise ValueError(f"{ask}: say what must come of it")
    return question
