"""Text of drawings, the same in slides, sheets and diagrams."""

from collections.abc import Iterator

from lxml import etree

from cogni_adapters.extraction.ooxml import local_name


def paragraphs_of(element: etree._Element) -> Iterator[str]:
    """The paragraphs under an element that say something, in order."""
    for paragraph in element.iter("{*}p"):
        text = paragraph_text(paragraph)
        if text.strip():
            yield text


def paragraph_text(paragraph: etree._Element) -> str:
    """Runs and fields of one paragraph, with its line breaks."""
    parts = []
    for element in paragraph.iter("{*}t", "{*}br", "{*}tab"):
        name = local_name(element)
        parts.append((element.text or "") if name == "t" else "\n" if name == "br" else "\t")
    return "".join(parts)
