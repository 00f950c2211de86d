"""Words cut to their stems, in the languages that a text is likely to be written in."""

import threading
from functools import cache, lru_cache

import Stemmer
from py3langid.langid import MODEL_FILE, LanguageIdentifier

_LATIN = {
    "ca": "catalan",
    "cs": "czech",
    "da": "danish",
    "de": "german",
    "en": "english",
    "es": "spanish",
    "et": "estonian",
    "eu": "basque",
    "fi": "finnish",
    "fr": "french",
    "ga": "irish",
    "hu": "hungarian",
    "id": "indonesian",
    "it": "italian",
    "lt": "lithuanian",
    "nl": "dutch",
    "no": "norwegian",
    "pl": "polish",
    "pt": "portuguese",
    "ro": "romanian",
    "sv": "swedish",
    "tr": "turkish",
}
_SCRIPTS = (
    ("\u0370", "\u03ff", "greek"),
    ("\u0400", "\u052f", "russian"),
    ("\u0530", "\u058f", "armenian"),
    ("\u0600", "\u06ff", "arabic"),
    ("\u0900", "\u097f", "hindi"),
    ("\u0b80", "\u0bff", "tamil"),
)

_SAMPLE_CHARACTERS = 160
_MOST_LANGUAGES = 4
_SURE = 0.98

# A stemmer holds the state of the word it is cutting.
_one_at_a_time = threading.Lock()


def likely_languages(text: str) -> tuple[str, ...]:
    """Return the stemmers for the Latin words of a canonical text, the likeliest first.

    One for a passage; up to four for a few words, which say too little: each of them is then cut in
    every way that its passage may have been. A sample from the middle decides, about 25 µs.
    """
    start = max(0, (len(text) - _SAMPLE_CHARACTERS) // 2)
    ranked = _identifier().rank(text[start : start + _SAMPLE_CHARACTERS])
    found: list[str] = []
    certainty = 0.0
    for language, share in ranked[:_MOST_LANGUAGES]:
        if certainty < _SURE:
            found.append(_LATIN[language])
            certainty += share
    return tuple(found)


def stems(word: str, latin: tuple[str, ...]) -> tuple[str, ...]:
    """Return the stems of a canonical word; `latin` names the stemmers for a word in Latin letters.

    Other scripts have one stemmer each, so that nothing has to be guessed there.
    """
    first = word[:1]
    others = tuple(name for low, high, name in _SCRIPTS if low <= first <= high)
    names = others if others or first > "\u024f" else latin
    with _one_at_a_time:
        return tuple(_stemmer(name).stemWord(word) for name in names)


@cache
def _stemmer(name: str) -> Stemmer.Stemmer:
    return Stemmer.Stemmer(name, 0)


@lru_cache(maxsize=1)
def _identifier() -> LanguageIdentifier:
    identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    identifier.set_languages(_LATIN)
    return identifier
