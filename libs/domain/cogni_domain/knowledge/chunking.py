"""How a document is cut into passages: along its own structure, by size only inside an oversized unit."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from itertools import groupby

from cogni_domain.knowledge.corpus import Chunk, Document, chunk_id
from cogni_domain.knowledge.extracted import Block, BlockKind, ExtractedDocument
from cogni_domain.knowledge.sentences import sentences
from cogni_kernel import estimate_tokens

TARGET_TOKENS = 180
"""What an embedder of 256 tokens reads whole, with a title and headings above it."""


class Strategy(Enum):
    """What a passage is cut along."""

    STRUCTURAL = "structural"
    FIXED = "fixed"


@dataclass(frozen=True, slots=True)
class ChunkPolicy:
    """Cuts documents.

    STRUCTURAL keeps a document's own units whole and joins small neighbours under one heading. FIXED ignores
    headings. Both cut inside a unit only where it is larger than `target`, at the end of a sentence, and never
    inside a row of a table.

    Attributes:
        target: Tokens that a passage holds at most, as estimated; a single word or row may be longer.
        overlap: Sentences that a cut unit's next part repeats, so that no reference is lost at the cut.

    Source:
        COGNI.BUILD spec, package domain, "ChunkPolicy".
    """

    strategy: Strategy = Strategy.STRUCTURAL
    target: int = TARGET_TOKENS
    overlap: int = 0

    def __post_init__(self) -> None:
        if self.target < 1 or not 0 <= self.overlap < 4:
            raise ValueError("a passage holds at least one token, and repeats 0 to 3 sentences")

    def chunk(self, document: Document, extracted: ExtractedDocument) -> tuple[Chunk, ...]:
        """Return the passages of a document, in order; the same document gives the same ids."""
        parts = (part for unit in self._units(extracted) for part in self._packed(unit))
        return tuple(
            Chunk(
                id=chunk_id(document.id, document.version, ordinal),
                document_id=document.id,
                tenant_id=document.tenant_id,
                corpus_id=document.corpus_id,
                title=document.title,
                ordinal=ordinal,
                text=part.text,
                heading=part.heading,
                locator=part.locator,
                readers=document.rule.readers,
                document_version=document.version,
            )
            for ordinal, part in enumerate(parts)
        )

    def _units(self, extracted: ExtractedDocument) -> Iterator[tuple[Block, ...]]:
        """Yield runs of blocks that may share a passage; a heading's text travels as its path."""
        if self.strategy is Strategy.FIXED:
            yield extracted.blocks
            return
        for _, run in groupby(extracted.blocks, key=lambda block: block.heading):
            blocks = tuple(run)
            bodies = tuple(b for b in blocks if b.kind is not BlockKind.HEADING)
            yield bodies or blocks

    def _packed(self, unit: tuple[Block, ...]) -> Iterator[Block]:
        """Join small blocks up to the target, and cut large ones."""
        gathered: list[Block] = []
        for block in unit:
            pieces = self._cut(block)
            for piece in pieces:
                size = sum(estimate_tokens(b.text) for b in (*gathered, piece))
                if gathered and (size > self.target or len(pieces) > 1):
                    yield _joined(gathered)
                    gathered = []
                gathered.append(piece)
        if gathered:
            yield _joined(gathered)

    def _cut(self, block: Block) -> list[Block]:
        if estimate_tokens(block.text) <= self.target:
            return [block]
        if block.kind is BlockKind.TABLE:
            texts = self._rows(block.text.split("\n"))
        elif block.kind is BlockKind.CODE:
            texts = self._filled(block.text.split("\n"), "\n", 0)
        else:
            texts = self._filled(self._short(sentences(block.text)), " ", self.overlap)
        return [Block(block.kind, text, block.heading, block.locator) for text in texts]

    def _rows(self, rows: list[str]) -> list[str]:
        """Cut a table between rows; each part begins with the header."""
        header, *body = rows
        room = max(1, self.target - estimate_tokens(header))
        filled = ChunkPolicy(self.strategy, room)._filled(body, "\n", 0)  # noqa: SLF001 - itself
        return [f"{header}\n{part}" for part in filled] or [header]

    def _filled(self, units: list[str], joint: str, overlap: int) -> list[str]:
        """Fill parts with whole units up to the target."""
        parts: list[list[str]] = []
        size = 0
        for unit in units:
            cost = estimate_tokens(unit)
            if not parts or size + cost > self.target:
                repeated = parts[-1][-overlap:] if parts and overlap else []
                parts.append(repeated)
                size = sum(map(estimate_tokens, repeated))
            parts[-1].append(unit)
            size += cost
        return [joint.join(part) for part in parts]

    def _short(self, units: tuple[str, ...]) -> list[str]:
        """Cut a sentence that alone is larger than the target between words, or between characters."""
        found: list[str] = []
        for unit in units:
            if estimate_tokens(unit) <= self.target:
                found.append(unit)
                continue
            words = unit.split()
            pieces = (
                words
                if len(words) > 1
                else [unit[i : i + self.target] for i in range(0, len(unit), self.target)]
            )
            found.extend(self._filled(pieces, " " if len(words) > 1 else "", 0))
        return found


def _joined(blocks: list[Block]) -> Block:
    first, last = blocks[0], blocks[-1]
    text = "\n\n".join(block.text for block in blocks)
    locator = first.locator if first.locator == last.locator else _span(first.locator, last.locator)
    return Block(first.kind, text, first.heading, locator)


def _span(first: str, last: str) -> str:
    """Return the place that covers both: `pages 3-4`, `lines 3-12`, `Sheet1!A2:D9`."""
    if not first or not last:
        return first or last
    kind, _, start = first.rpartition(" ")
    other, _, end = last.rpartition(" ")
    if kind and kind.rstrip("s") == other.rstrip("s"):
        return f"{kind.rstrip('s')}s {start.split('-')[0]}-{end.split('-')[-1]}"
    return f"{first} to {last}"
