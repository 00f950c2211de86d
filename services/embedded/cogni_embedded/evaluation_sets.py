"""The shared collections, as cases: questions of one kind with their documents, and questions of the other's."""

import gzip
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from cogni_evaluation import Case, CaseSet, Stratum
from cogni_kernel import DocumentId, Err, HumanText, NotFoundError, Ok, Result

SETS = ("scifact", "cranfield")
ASKER = "reader"
FOREIGN_SHARE = 5
"""One foreign question for so many of its own: a sixth of the set has no answer."""


@dataclass(frozen=True, slots=True)
class Text:
    """One document of a collection."""

    id: DocumentId
    title: str
    body: str


@dataclass(frozen=True, slots=True)
class SharedSet:
    """A collection and what is asked of it."""

    name: str
    texts: tuple[Text, ...]
    cases: CaseSet


def shared_set(name: str, shared: Path) -> Result[SharedSet]:
    """Read the dev part of a collection below `shared`.

    Errors:
        NotFoundError: It is not there.
    """
    folder = shared / "data" / "ir"
    try:
        foreign = [n for n in SETS if n != name]
        own = list(_cases(folder / name, name))
        others = [case for n in foreign for case in _cases(folder / n, n)]
        texts = tuple(_texts(folder / name / "corpus.jsonl.gz"))
    except OSError:
        message = f"There is no collection {name} in {shared}. COGNI_SHARED names the folder."
        return Err(NotFoundError(HumanText(message)))
    asked = [_unanswerable(case) for case in others[: len(own) // FOREIGN_SHARE]]
    return Ok(SharedSet(name, texts, CaseSet(name, (*own, *asked))))


def _texts(file: Path) -> Iterator[Text]:
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        for found in map(json.loads, lines):
            if body := found["text"].strip():
                yield Text(DocumentId(found["_id"]), found["title"], body)


def _cases(folder: Path, name: str) -> Iterator[Case]:
    wanted = _judgements(folder / "qrels.dev.tsv")
    for found in map(json.loads, (folder / "queries.dev.jsonl").read_text("utf-8").splitlines()):
        if documents := wanted.get(found["_id"]):
            id_ = f"{name}-{found['_id']}"
            yield Case(id_, found["text"], ASKER, Stratum.COMMON, documents)


def _judgements(file: Path) -> Mapping[str, dict[DocumentId, int]]:
    wanted: dict[str, dict[DocumentId, int]] = {}
    for line in file.read_text("utf-8").splitlines()[1:]:
        question, document, grade = line.split("\t")
        if int(grade) > 0:
            wanted.setdefault(question, {})[DocumentId(document)] = int(grade)
    return wanted


def _unanswerable(case: Case) -> Case:
    return Case(case.id, case.question, ASKER, Stratum.UNANSWERABLE, expect_refusal=True)
