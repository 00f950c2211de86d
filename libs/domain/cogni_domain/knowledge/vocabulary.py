"""What people call things: a spoken word is resolved here, and the model learns only which words exist."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeAlias

from cogni_domain.knowledge.folding import canonical, fold
from cogni_engine import Vocabulary as ToolVocabulary
from cogni_kernel import (
    Err,
    HumanText,
    InvalidArgumentError,
    ModelFacingText,
    Ok,
    Result,
    VocabularyId,
)

LEAST_LOOSE = 2
"""Characters: what is shorter is part of nearly every name."""

_BETWEEN = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class Term:
    """One thing that people have words for.

    Attributes:
        key: What systems call it.
        name: What people call it.
        aliases: What else they call it.
        expands_to: What a tool is given for it; never shown to the model.

    Raises:
        ValueError: A key, name or alias is blank, or is more than one line.
    """

    key: str
    name: str
    aliases: tuple[str, ...] = ()
    expands_to: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for word in (self.key, self.name, *self.aliases):
            if not _plain(word) or len(word.splitlines()) != 1:
                raise ValueError(f"a term is called by words on one line: {word!r}")


@dataclass(frozen=True, slots=True)
class Ambiguous:
    """Several terms fit equally well: the person has to say which."""

    terms: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class Unknown:
    """No term is called so."""

    spoken: str


Resolved: TypeAlias = Term | Ambiguous | Unknown


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The terms of one subject, as somebody wrote them down to be reviewed.

    Attributes:
        source_path: The file they come from.

    Raises:
        ValueError: There are none, or two have one key.

    Source:
        COGNI.BUILD spec, package domain, "Vocabulary".
    """

    id: VocabularyId
    terms: tuple[Term, ...]
    source_path: str

    def __post_init__(self) -> None:
        keys = {_plain(term.key) for term in self.terms}
        if not keys or len(keys) < len(self.terms):
            raise ValueError(
                f"{self.source_path}: a vocabulary has terms, each with a key of its own"
            )

    def resolve(self, spoken: str) -> Resolved:
        """Return the term that a person means, in whatever case, accents and punctuation.

        The first pass that finds a term decides: exact key, then name, then alias, then loosely, where the spoken
        word is a part of a key, name or alias, since people abbreviate.

        >>> office = Term("LEJ-2", "Leipzig office", ("Plagwitz",), ("site=LEJ-2",))
        >>> Vocabulary(VocabularyId("sites"), (office,), "sites.yaml").resolve("leipzig") == office
        True
        """
        word = _plain(spoken)
        if not word:
            return Unknown(spoken)
        passes: list[Callable[[Term], bool]] = [
            lambda term: word == _plain(term.key),
            lambda term: word == _plain(term.name),
            lambda term: word in map(_plain, term.aliases),
        ]
        if len(word) >= LEAST_LOOSE:
            passes.append(lambda term: any(word in _plain(w) for w in _called(term)))
        for fits in passes:
            if found := tuple(filter(fits, self.terms)):
                return found[0] if len(found) == 1 else Ambiguous(found)
        return Unknown(spoken)

    def prompt_fragment(self) -> ModelFacingText:
        """Return which words exist, a line a term; never what they expand to."""
        lines = (f"- {', '.join((term.name, *term.aliases))}" for term in self.terms)
        return ModelFacingText("\n".join(lines))

    def for_tool(self) -> ToolVocabulary:
        """Return it as a tool's parameter takes it: names in, keys out, and a hint where a name is not clear."""
        return _ToolWords(self)


@dataclass(frozen=True, slots=True)
class _ToolWords(ToolVocabulary):
    vocabulary: Vocabulary

    def names(self) -> tuple[str, ...]:
        return tuple(term.name for term in self.vocabulary.terms)

    def resolve(self, spoken: str) -> Result[str]:
        match self.vocabulary.resolve(spoken):
            case Term(key=key):
                return Ok(key)
            case Ambiguous(terms):
                names = ", ".join(term.name for term in terms)
                return _unclear(f"{spoken} may be {names}", f"Ask which is meant: {names}.")
            case Unknown():
                names = ", ".join(self.names())
                return _unclear(f"nothing is called {spoken}", f"Use one of: {names}.")


def _unclear(message: str, hint: str) -> Err:
    return Err(InvalidArgumentError(HumanText(message), ModelFacingText(hint)))


def _called(term: Term) -> Iterable[str]:
    return (term.key, term.name, *term.aliases)


def _plain(text: str) -> str:
    """Return a text's words as searches spell them, one space between."""
    return " ".join(fold(w) or w for w in _BETWEEN.split(canonical(text)) if w)
