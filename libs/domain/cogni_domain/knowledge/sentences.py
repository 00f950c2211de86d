"""Where one sentence ends and the next begins, in any script."""

import re

_END = re.compile(
    r"""
    [.!?…؟۔।॥]+ ["'”’»)\]]* (?=\s|$)     # Latin, Cyrillic, Arabic, Urdu, Devanagari: before white space
    | [。！？｡]+ [”’」』）】]*              # Chinese and Japanese: at once
    | \n+                                  # a line of a list or a table
    """,
    re.VERBOSE,
)
_ABBREVIATION = re.compile(
    r"(?:^|[\s(])(?:[A-Za-z]|(?:[A-Za-z]\.)+[A-Za-z]|approx|bzw|ca|cf|Co|Corp|Dr|etc|evtl|fig|ggf|inkl|Inc|Jr|Ltd"
    r"|Mr|Mrs|Ms|max|min|No|Nr|Prof|pp?|resp|Sr|St|usw|vgl|vs|zzgl)\.$"
)
_LOOK_BACK = 12


def sentences(text: str) -> tuple[str, ...]:
    """Cut `text` into sentences, trimmed, none empty; a line end always ends one.

    >>> sentences("Dr. Vermeer gets 20 weeks. The rest is unpaid.\\n- Ask HR")
    ('Dr. Vermeer gets 20 weeks.', 'The rest is unpaid.', '- Ask HR')
    """
    found: list[str] = []
    start = 0
    for end in _END.finditer(text):
        if _is_inside(text, start, end):
            continue
        found.append(text[start : end.end()].strip())
        start = end.end()
    found.append(text[start:].strip())
    return tuple(sentence for sentence in found if sentence)


def _is_inside(text: str, start: int, end: re.Match[str]) -> bool:
    """Whether the full stop belongs to an abbreviation or an ordinal number, and the sentence goes on."""
    if end[0] != ".":
        return False
    following = text[end.end() :].lstrip(" \t")[:1]
    if following.islower():
        return True
    before = text[max(start, end.start() - _LOOK_BACK) : end.end()]
    return (
        _ABBREVIATION.search(before) is not None
        or re.search(r"(?:^|\n)\s*\d{1,3}\.$", before) is not None
    )
