"""How a document becomes passages: along its own structure, by size only inside an oversized unit."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import Enum
from itertools import groupby, takewhile

from cogni_domain.knowledge.corpus import Chunk, Document, chunk_id
from cogni_domain.knowledge.cutting import cut, cut_rows
from cogni_domain.knowledge.extracted import Block, BlockKind, ExtractedDocument
from cogni_domain.knowledge.locators import covering, narrowed
from cogni_domain.knowledge.passage_size import hundredths

TARGET = 200
"""Of the 256 word pieces that the embedder reads; the rest is for a title and headings."""

_HEADINGS = 45
_LEAST_TARGET = 80
_BETWEEN_BLOCKS = "\n\n"


class Strategy(Enum):
    """What a passage is cut along."""

    STRUCTURAL = "structural"
    FIXED = "fixed"


@dataclass(frozen=True, slots=True)
class ChunkPolicy:
    """Cuts documents into passages.

    STRUCTURAL keeps a document's own units whole and joins small neighbours under one heading; FIXED joins
    them across headings. Both cut inside a unit only where it is larger than a passage, at the end of a
    sentence, item or row. A severed table repeats its header; a row is severed only beyond three passages.

    Attributes:
        target: The size of a passage in word pieces, as estimated; less where its headings are long.
        overlap: How much of the part before is repeated in the next part of a cut unit, in whole sentences.

    Raises:
        ValueError: The target is below 80, or the overlap beyond a quarter of it.

    Source:
        COGNI.BUILD spec, package domain, "ChunkPolicy".
    """

    strategy: Strategy = Strategy.STRUCTURAL
    target: int = TARGET
    overlap: int = 0

    def __post_init__(self) -> None:
        if self.target < _LEAST_TARGET or not 0 <= self.overlap <= self.target // 4:
            raise ValueError(
                f"a passage has at least {_LEAST_TARGET} word pieces and repeats at most a quarter of them"
            )

    def chunk(self, document: Document, extracted: ExtractedDocument) -> tuple[Chunk, ...]:
        """Return the passages in reading order. The same document gives the same passages and ids.

        No text is lost: what is not in a passage's text is among its headings.
        """
        passages = (
            passage
            for heading, blocks in self._sections(extracted.blocks)
            for passage in self._passages(document.title, heading, blocks)
        )
        return tuple(
            Chunk(
                id=chunk_id(document.id, document.version, ordinal),
                document_id=document.id,
                tenant_id=document.tenant_id,
                corpus_id=document.corpus_id,
                title=document.title,
                ordinal=ordinal,
                text=passage.text,
                heading=passage.heading,
                locator=passage.locator,
                readers=document.rule.readers,
                document_version=document.version,
            )
            for ordinal, passage in enumerate(passages)
        )

    def _sections(
        self, blocks: tuple[Block, ...]
    ) -> Iterator[tuple[tuple[str, ...], Iterable[Block]]]:
        """Yield what may share a passage, under the headings that all of it has."""
        if self.strategy is Strategy.FIXED:
            yield (), blocks
            return
        for (_, heading), section in groupby(_bodies(blocks), key=lambda b: (b[0], b[1].heading)):
            yield heading, (block for _, block in section)

    def _passages(
        self, title: str, heading: tuple[str, ...], blocks: Iterable[Block]
    ) -> Iterator[Block]:
        """Join small blocks, and the parts of large ones, up to the limit."""
        above = hundredths("\n".join((title, *heading)))
        limit = max(self.target * 50, self.target * 100 - max(0, above - _HEADINGS * 100))
        gathered: list[Block] = []
        size = 0
        for block in blocks:
            for part in self._parts(block, limit):
                cost = hundredths(part.text)
                if gathered and size + cost > limit:
                    yield _joined(gathered)
                    gathered, size = [], 0
                gathered.append(part)
                size += cost
        if gathered:
            yield _joined(gathered)

    def _parts(self, block: Block, limit: int) -> Iterator[Block]:
        text = block.text
        lines = text.count("\n") + 1
        if hundredths(text) <= limit:
            yield block
        elif block.kind is BlockKind.TABLE:
            for rows, (first, last) in cut_rows(text, limit):
                place = narrowed(block.locator, lines, first, last)
                yield replace(block, text=rows, locator=place)
        else:
            by_line = block.kind in (BlockKind.LIST, BlockKind.CODE)
            overlap = min(self.overlap * 100, limit // 4)
            for start, end in cut(text, limit, overlap, by_line=by_line):
                first, last = text.count("\n", 0, start), text.count("\n", 0, end)
                place = narrowed(block.locator, lines, first, last)
                yield replace(block, text=text[start:end], locator=place)


def _bodies(blocks: Iterable[Block]) -> Iterator[tuple[int, Block]]:
    """Yield each block with how many headings came before it, without those that travel as its path."""
    waiting: list[tuple[int, Block]] = []
    headings = 0
    for block in blocks:
        is_heading = block.kind is BlockKind.HEADING
        above = block.heading[:-1] if is_heading else block.heading
        yield from (w for w in waiting if above[: len(w[1].heading)] != w[1].heading)
        waiting = [w for w in waiting if above[: len(w[1].heading)] == w[1].heading]
        if is_heading:
            headings += 1
            waiting.append((headings, block))
        else:
            waiting = []
            yield headings, block
    yield from waiting


def _joined(parts: list[Block]) -> Block:
    text = _BETWEEN_BLOCKS.join(part.text for part in parts)
    paths = [part.heading for part in parts]
    levels = takewhile(lambda level: len(set(level)) == 1, zip(*paths, strict=False))
    heading = tuple(level[0] for level in levels)
    return replace(
        parts[0], text=text, heading=heading, locator=covering([part.locator for part in parts])
    )
