"""Where one sentence ends and the next begins, in any script."""

import re
from collections.abc import Iterator

_CLOSERS = "\"'”’»›)\\]」』）】》〉］"
_STOPS = ".!?…‽؟"
_END = re.compile(
    f"(?<![{_STOPS}])[{_STOPS}]+[{_CLOSERS}]*+(?=\\s)"
    f"|[。！？｡]+[{_CLOSERS}]*"
    f"|[।॥۔։።፧។៕]+[{_CLOSERS}]*"
)
_LINE = re.compile("[^\n]*\n?")
_ITEM = re.compile(r"\s*(?:[-*+•‣◦▪·–]|\(?(?:\d{1,3}|[a-zA-Z])[.)])\s")
_CELLS = " | "

_LOOK_BACK = 24
_DOTTED = re.compile(r"(?:[^\W\d_]\.)+[^\W\d_]")
_ORDINAL = re.compile("[0-9]{1,2}")
_GERMAN_MONTH = re.compile(
    r"(?:Januar|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember)\b"
)
_SHORT = (
    "approx capt cf co col corp dept dr est etc ext gen gov hon inc jr ltd messrs mr mrs ms mt prof rep resp rev"
    " sen sgt sr st viz vs abb abs abschn allg bes bsp bspw bzgl bzw ca dipl einschl evtl exkl geb gem ggf hr hrsg"
    " inkl ing insb kap mio mrd sog std str tel tsd usw verf vgl zb zzgl ziff av bijv blz dhr dott ecc ej enz env"
    " hab mevr mlle mme pag pág sig sra sras srta sres tél ud uds"
)
_SHORT_BEFORE_A_NUMBER = (
    "art cap ch eq fig figs kap max min no nos nr nrs núm op p para pp pt sec sect vol vols § jan feb mar apr jun"
    " jul aug sep sept oct nov dec"
)
_ABBREVIATIONS = frozenset(_SHORT.split())
_BEFORE_NUMBERS = frozenset(_SHORT_BEFORE_A_NUMBER.split())


def sentences(text: str) -> tuple[str, ...]:
    """Return the sentences of `text` in order, trimmed, none empty; nothing but white space is lost.

    A sentence ends at its stop, whatever script; at an empty line; at the next item of a list; and at the end
    of a table's row. A stop within an abbreviation, an initial, a number or before a small letter ends nothing:
    where that cannot be told, two sentences stay one. Takes time in proportion to the text.

    >>> sentences("Dr. Vermeer gets 20 weeks. The rest is unpaid.\\n- Ask HR")
    ('Dr. Vermeer gets 20 weeks.', 'The rest is unpaid.', '- Ask HR')
    """
    return tuple(text[start:end] for start, end in sentence_spans(text))


def sentence_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield where each sentence begins and ends."""
    for start, end in _runs(text):
        for begun, ended in _between_stops(text, start, end):
            part = text[begun:ended]
            if part.strip():
                yield begun + len(part) - len(part.lstrip()), begun + len(part.rstrip())


def _runs(text: str) -> Iterator[tuple[int, int]]:
    """Lines that read on: hard wraps stay within, items, rows and empty lines stand for themselves."""
    start, row_before = 0, False
    for line in _LINE.finditer(text):
        row = _CELLS in line[0]
        if line.start() > start and (
            row or row_before or not line[0].strip() or _ITEM.match(line[0])
        ):
            yield start, line.start()
            start = line.start()
        row_before = row
    yield start, len(text)


def _between_stops(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    for found in _END.finditer(text, start, end):
        if not _reads_on(text, start, found):
            yield start, found.end()
            start = found.end()
    yield start, end


def _reads_on(text: str, begun: int, stop: re.Match[str]) -> bool:
    """Whether the sentence goes on after what looks like its end."""
    if stop[0][0] not in _STOPS:
        return False
    following = text[stop.end() : stop.end() + _LOOK_BACK].lstrip()
    if following[:1].islower():
        return True
    words = text[max(begun, stop.start() - _LOOK_BACK) : stop.start()].split()
    if stop[0] != "." or not words:
        return False
    word = words[-1].lstrip("([\"'“‘„«").lower()
    if _ORDINAL.fullmatch(word):
        return len(words) == 1 or _GERMAN_MONTH.match(following) is not None
    if word in _BEFORE_NUMBERS and following[:1].isdigit():
        return True
    is_initial = len(word) == 1 and word.isalpha() and word != "i"
    return is_initial or word in _ABBREVIATIONS or _DOTTED.fullmatch(word) is not None
