"""One form for every text: NFC, plain line ends, nothing hidden."""

import re
import unicodedata

from cogni_domain.knowledge.hidden_text import neutralise_hidden_text

_LINE_ENDS = re.compile("\r\n|[\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_CONTROLS = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff]")
_SURROGATES = re.compile("[\ud800-\udfff]")
_PRESENTATION_FORMS = re.compile("[\ufb00-\ufb4f\ufb50-\ufbff\ufe70-\ufefc]")
_SPACE_BEFORE_LINE_END = re.compile("[ \t]+(?=\n)")


def clean_text(text: str) -> tuple[str, int]:
    """Return the text as it is indexed, and how many hidden characters were taken out.

    Ligatures and Arabic presentation forms become their letters, so that "difficult" is found;
    soft hyphens go and are not counted. Other compatibility characters (m², ½) stay as they are.
    """
    text = _LINE_ENDS.sub("\n", text)
    text = _CONTROLS.sub("", text.replace("\u00ad", ""))
    text = _SURROGATES.sub("\ufffd", text)
    shown = neutralise_hidden_text(text)
    if not shown.isascii():
        shown = _PRESENTATION_FORMS.sub(
            lambda match: unicodedata.normalize("NFKC", match[0]),
            unicodedata.normalize("NFC", shown),
        )
    return _SPACE_BEFORE_LINE_END.sub("", shown), len(text) - len(neutralise_hidden_text(text))


def one_line(text: str) -> str:
    """`text` with every run of white space as one space."""
    return " ".join(text.split())
