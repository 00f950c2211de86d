"""Quotes as an answer: in reading order, each with its handle, under words that say that they are quotes."""

import re
from collections.abc import Sequence

from cogni_adapters.reader.support import Quote
from cogni_domain.knowledge.folding import canonical
from cogni_domain.knowledge.stemming import likely_languages

LONGEST_QUOTE = 600

_BY_LANGUAGE = {
    "dutch": "Uit de bronnen: ",
    "french": "D'après les sources : ",
    "german": "Aus den Quellen: ",
    "italian": "Dalle fonti: ",
    "portuguese": "Das fontes: ",
    "spanish": "De las fuentes: ",
}
_BY_SCRIPT = (
    (re.compile(r"[\u0600-\u06ff]"), "من المصادر: "),
    (re.compile(r"[\u3040-\u30ff]"), "出典より："),
    (re.compile(r"[\u4e00-\u9fff]"), "摘自资料："),
    (re.compile(r"[\u0400-\u04ff]"), "Из источников: "),
)
_ENGLISH = "From the sources: "
_LATIN = re.compile(r"[A-Za-z]")


def framed(quotes: Sequence[Quote]) -> str:
    """Return the answer; empty where there is nothing to quote."""
    ordered = sorted(quotes, key=lambda quote: quote.place)
    text = " ".join(map(_cited, ordered))
    if not any(quote.source.handle for quote in ordered):
        return text
    return _introduction(ordered[0].sentence.text) + text


def _cited(quote: Quote) -> str:
    text = quote.sentence.text
    if len(text) > LONGEST_QUOTE:
        text = text[:LONGEST_QUOTE].rsplit(" ", 1)[0] + " …"
    return f"{text} [{quote.source.handle}]" if quote.source.handle else text


def _introduction(quoted: str) -> str:
    """Say in the language of the quote that it is one."""
    latin = len(_LATIN.findall(quoted))
    for script, words in _BY_SCRIPT:
        if len(script.findall(quoted)) > latin:
            return words
    likely = likely_languages(canonical(quoted))
    return _BY_LANGUAGE.get(likely[0], _ENGLISH) if len(likely) == 1 else _ENGLISH
