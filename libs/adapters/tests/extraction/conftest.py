"""Small Office files, written part by part: the odd ones that no library would write."""

import csv
from collections.abc import Callable, Iterator, Mapping
from io import BytesIO
from zipfile import ZIP_DEFLATED, ZipFile

import pytest

from cogni_adapters.extraction.child import extract
from cogni_adapters.extraction.draft import Source
from cogni_domain.knowledge.extracted import ExtractedDocument, ExtractionLimits, Skipped

OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
TYPES = "http://schemas.openxmlformats.org/package/2006/content-types"
MAIN_TYPE = "application/vnd.openxmlformats-officedocument.{}.main+xml"

Reader = Callable[[str, bytes], ExtractedDocument]
Pack = Callable[..., bytes]


@pytest.fixture(autouse=True)
def _limit_of_csv_fields_stays() -> Iterator[None]:
    """Undo what the reader of tables sets for its whole process, which is a child's elsewhere."""
    before = csv.field_size_limit()
    yield
    csv.field_size_limit(before)


@pytest.fixture
def read() -> Reader:
    """Extract a file, in this process, that must give a document."""

    def _read(name: str, data: bytes) -> ExtractedDocument:
        found = extract(Source(name, data, ExtractionLimits()))
        assert isinstance(found, ExtractedDocument), found
        return found

    return _read


@pytest.fixture
def refuse() -> Callable[[str, bytes], Skipped]:
    """Extract a file, in this process, that must be skipped."""

    def _refuse(name: str, data: bytes) -> Skipped:
        found = extract(Source(name, data, ExtractionLimits()))
        assert isinstance(found, Skipped), found
        return found

    return _refuse


@pytest.fixture
def pack() -> Pack:
    """Pack parts; `relations` are (of part, kind, target) with ids r1, r2, … in order."""

    def _pack(
        kind: str,
        main: str,
        parts: Mapping[str, str | bytes],
        relations: list[tuple[str, str, str]] | None = None,
        external: tuple[str, ...] = (),
    ) -> bytes:
        file = BytesIO()
        links: dict[str, list[str]] = {}
        for number, (part, relation, target) in enumerate(
            [("", "officeDocument", main), *(relations or [])]
        ):
            mode = ' TargetMode="External"' if target in external else ""
            links.setdefault(part, []).append(
                f'<Relationship Id="r{number}" Type="{OFFICE}/{relation}" Target="{target}"{mode}/>'
            )
        with ZipFile(file, "w", ZIP_DEFLATED) as archive:
            archive.writestr(
                "[Content_Types].xml",
                f'<Types xmlns="{TYPES}"><Override PartName="/{main}" '
                f'ContentType="{MAIN_TYPE.format(kind)}"/></Types>',
            )
            for part, entries in links.items():
                folder, _, name = part.rpartition("/")
                archive.writestr(
                    f"{folder}/_rels/{name}.rels".lstrip("/"),
                    f'<Relationships xmlns="{RELATIONS}">{"".join(entries)}</Relationships>',
                )
            for name, content in parts.items():
                archive.writestr(name, content)
        return file.getvalue()

    return _pack
