"""A document and the files in it, unpacked before anything is written."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from cogni_domain.knowledge.extracted import ExtractedDocument, Reason, Skipped
from cogni_domain.knowledge.source import Gap
from cogni_domain.ports.extractor import ExtractorPort
from cogni_engine import Clock
from cogni_kernel import encodable

MAX_DEPTH = 3
MAX_PARTS = 200
MAX_BYTES = 256 * 2**20
"""What all files of a family weigh together: archives in archives multiply."""


@dataclass(frozen=True, slots=True)
class Part:
    """One document of a family.

    Attributes:
        source_id: The root's, with `!` and a number for each step down.
        parent: The source id of what it is attached to, None for the root.
    """

    source_id: str
    name: str
    content: ExtractedDocument
    parent: str | None = None

    @property
    def title(self) -> str:
        """What a person knows it by."""
        return encodable(self.content.title or self.name)


@dataclass
class Unpacked:
    """A family: parents before what is attached to them, and what is missing of it all."""

    parts: list[Part] = field(default_factory=list)
    gaps: list[Gap] = field(default_factory=list)
    weight: int = 0

    def source_ids(self) -> Sequence[str]:
        """Return the ids of all parts."""
        return [part.source_id for part in self.parts]


@dataclass(frozen=True, slots=True)
class Unpacker:
    """Extracts what is attached, as far down and as much as is reasonable; the rest is listed."""

    extractor: ExtractorPort
    clock: Clock

    async def unpack(self, root: Part) -> Unpacked:
        """Return the family of a document."""
        family = Unpacked()
        family.parts.append(self._weighed(family, root))
        for at, part in enumerate(family.parts):
            self._note_missing(family, part)
            await self._attachments(family, part)
            family.parts[at] = _without_files(part)
        return family

    def _weighed(self, family: Unpacked, part: Part) -> Part:
        """Return the part; without the files in it where the family would weigh too much."""
        weight = family.weight + sum(len(file.data) for file in part.content.attachments)
        if weight <= MAX_BYTES:
            family.weight = weight
            return part
        heavy = f"The files in it unpack to more than {MAX_BYTES // 2**20} MiB. Keep them as files of their own."
        family.gaps.append(self.gap(part.source_id, part.name, Skipped(Reason.BOUNDED, heavy)))
        return _without_files(part)

    async def _attachments(self, family: Unpacked, part: Part) -> None:
        depth = part.source_id.count("!") + 1
        for number, attachment in enumerate(part.content.attachments, start=1):
            source_id = f"{part.source_id}!{number}"
            if depth >= MAX_DEPTH or len(family.parts) >= MAX_PARTS:
                deep = f"More than {MAX_DEPTH} levels or {MAX_PARTS} files deep. Keep it as a file of its own."
                skipped = Skipped(Reason.BOUNDED, deep)
                family.gaps.append(self.gap(source_id, attachment.name, skipped))
                continue
            content = await self.extractor.extract(attachment.name, attachment.data)
            if isinstance(content, Skipped):
                family.gaps.append(self.gap(source_id, attachment.name, content))
            else:
                inner = Part(source_id, attachment.name, content, part.source_id)
                family.parts.append(self._weighed(family, inner))

    def _note_missing(self, family: Unpacked, part: Part) -> None:
        if part.content.missing:
            missing = f"Not readable: {', '.join(part.content.missing)}. The rest is indexed."
            skipped = Skipped(Reason.PARTIAL, missing)
            family.gaps.append(self.gap(part.source_id, part.name, skipped))

    def gap(self, source_id: str, name: str, skipped: Skipped) -> Gap:
        """Return the row of the gap list for something that was skipped."""
        explanation = encodable(skipped.explanation)
        return Gap(source_id, encodable(name), skipped.reason.value, explanation, self.clock.now())


def _without_files(part: Part) -> Part:
    """Let go of the bytes of files that are read, or never will be."""
    return replace(part, content=replace(part.content, attachments=()))
