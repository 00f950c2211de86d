"""The container of Word, PowerPoint and Excel files: parts, their relations, and what may be inflated.

Parts are read with lxml and matched by local name, because the libraries for each format know only
the transitional namespaces, inflate every part at once, and lose text in content controls.
"""

import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from io import BytesIO
from posixpath import dirname, join, normpath
from typing import IO
from urllib.parse import unquote
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from lxml import etree

from cogni_adapters.extraction.draft import Draft, Source
from cogni_adapters.extraction.refusal import NotExtractedError
from cogni_domain.knowledge.extracted import ExtractionLimits, Reason

MAX_MEMBERS = 10_000
# What zipfile raises for a damaged member, whenever it is read.
DAMAGE = (KeyError, BadZipFile, zlib.error, EOFError, ValueError, OSError, RuntimeError)
SMALL_BYTES = 2**20
"""What a file may always unpack to, however small it is."""


@dataclass(frozen=True, slots=True)
class Relation:
    """A pointer from one part to another, or to an address outside.

    Attributes:
        kind: Last word of its type, the same in strict and transitional files: `slide`, `styles`.
        target: The part's name, or the address.
    """

    kind: str
    target: str
    is_external: bool


class Package:
    """An Office file, opened within limits: nothing is inflated before the declared sizes are added up.

    Errors:
        NotExtractedError: CORRUPT, ENCRYPTED, or BOUNDED for a bomb; from every method.
    """

    def __init__(self, source: Source) -> None:
        try:
            self._zip = ZipFile(BytesIO(source.data))
        except DAMAGE as error:
            raise NotExtractedError.corrupt(
                "The file is cut off or damaged: copy it again."
            ) from error
        self._members: Mapping[str, ZipInfo] = {
            member.filename.lstrip("/"): member for member in self._zip.infolist()
        }
        members = list(self._members.values())
        refuse_bombs(members, len(source.data), source.limits)
        _refuse_odd_members(members)
        self._types = self._content_types()

    @property
    def main(self) -> str:
        """Name of the main part."""
        for relation in self.relations("").values():
            if relation.kind == "officeDocument" and relation.target in self._members:
                return relation.target
        raise NotExtractedError.corrupt(
            "The file has no main part: save it again with its program."
        )

    def content_type(self, part: str) -> str:
        ending = part.rsplit(".", 1)[-1].lower()
        return self._types.get("/" + part) or self._types.get(ending, "")

    def has(self, part: str) -> bool:
        return part in self._members

    def read(self, part: str) -> bytes:
        """One part, inflated to no more than its declared size."""
        try:
            return self._zip.read(self._members[part])
        except DAMAGE as error:
            raise NotExtractedError.corrupt(
                f"A part of the file cannot be read ({type(error).__name__})."
            ) from error

    def stream(self, part: str) -> IO[bytes]:
        """One part, inflated as it is read; opening and reading it may raise `DAMAGE`."""
        return self._zip.open(self._members[part])

    def xml(self, part: str) -> etree._Element:
        return parse_xml(self.read(part))

    def relations(self, part: str) -> Mapping[str, Relation]:
        """By id. Empty where the part has none."""
        folder, _, name = part.rpartition("/")
        rels = f"{folder}/_rels/{name}.rels".lstrip("/")
        if not self.has(rels):
            return {}
        found = {}
        for element in self.xml(rels):
            target = element.get("Target", "")
            is_external = element.get("TargetMode") == "External"
            if not is_external:
                path = unquote(target)
                target = (
                    path.lstrip("/")
                    if path.startswith("/")
                    else normpath(join(dirname(part), path))
                )
            kind = element.get("Type", "").rpartition("/")[2]
            found[element.get("Id", "")] = Relation(kind, target, is_external)
        return found

    def related(self, part: str, kind: str) -> Iterator[str]:
        """Names of the parts of one kind that are there."""
        for relation in self.relations(part).values():
            if relation.kind == kind and not relation.is_external and self.has(relation.target):
                yield relation.target

    def title(self) -> str:
        """The document's own title; empty where it has none."""
        for part in self.related("", "core-properties"):
            for element in self.xml(part).iter("{*}title"):
                return element.text or ""
        return ""

    def _content_types(self) -> Mapping[str, str]:
        if not self.has("[Content_Types].xml"):
            return {}
        return {
            element.get("PartName") or element.get("Extension", "").lower(): element.get(
                "ContentType", ""
            )
            for element in self.xml("[Content_Types].xml")
        }


def main_content_type(source: Source) -> str:
    """Content type of the main part; empty for another archive, even one that ends in .docx."""
    package = Package(source)
    return package.content_type(package.main) if package.has("[Content_Types].xml") else ""


def attach_embedded(package: Package, part: str, draft: Draft) -> None:
    """Attach the Office files that a part embeds."""
    for name in package.related(part, "package"):
        try:
            draft.attach(name, package.read(name))
        except NotExtractedError:
            draft.lacks(f"attachment {name.rpartition('/')[2]}")


def warn_of_macros(package: Package, draft: Draft) -> None:
    """Say that there are macros; they are data here."""
    if any(package.related(package.main, "vbaProject")):
        draft.warn("the file holds macros: they were neither run nor read")


def parse_xml(data: bytes) -> etree._Element:
    """A part's root. A document type declaration is refused, so no entity is ever expanded."""
    parser = etree.XMLParser(
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        remove_comments=True,
        remove_pis=True,
    )
    try:
        root = etree.fromstring(data, parser)
    except etree.XMLSyntaxError as error:
        raise NotExtractedError.corrupt(
            "A part of the file is damaged XML: save it again."
        ) from error
    if root.getroottree().docinfo.doctype:
        raise NotExtractedError.corrupt(
            "A part declares a document type, which Office files never do."
        )
    return root


def local_name(element: etree._Element) -> str:
    """The tag without its namespace; empty for what is no element."""
    return str(element.tag).rpartition("}")[2] if isinstance(element.tag, str) else ""


def attribute(element: etree._Element, name: str) -> str:
    """An attribute by local name; one in a namespace, whichever it is, before a plain one."""
    for key, value in element.attrib.items():
        if str(key).endswith("}" + name):
            return str(value)
    return str(element.get(name, ""))


def refuse_bombs(members: list[ZipInfo], packed: int, limits: ExtractionLimits) -> None:
    """Refuse by the declared sizes what would unpack to too much; reading gives no more than is declared.

    Errors:
        NotExtractedError: BOUNDED.
    """
    unpacked = sum(member.file_size for member in members)
    if (
        len(members) > MAX_MEMBERS
        or unpacked > limits.unpacked_bytes
        or unpacked > max(packed * limits.unpack_ratio, SMALL_BYTES)
    ):
        raise NotExtractedError(
            Reason.BOUNDED,
            f"The file would unpack to {unpacked} bytes in {len(members)} parts: refused.",
        )


def _refuse_odd_members(members: list[ZipInfo]) -> None:
    if any(member.flag_bits & 1 for member in members):
        raise NotExtractedError(
            Reason.ENCRYPTED, "A password protects the file: save it without one."
        )
    if any(member.compress_type not in (ZIP_STORED, ZIP_DEFLATED) for member in members):
        raise NotExtractedError.corrupt("The file is packed in a way that Office files never are.")
