"""Archives: their files become attachments, whatever they are called, and bombs are refused before they go off."""

import gzip
import tarfile
from collections.abc import Callable
from io import BytesIO
from typing import TypeAlias
from zipfile import ZIP_DEFLATED, ZIP_LZMA, ZIP_STORED, ZipFile, ZipInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogni_adapters.extraction.child import extract
from cogni_adapters.extraction.draft import Source
from cogni_domain.knowledge.extracted import ExtractedDocument, ExtractionLimits, Reason, Skipped

Reader: TypeAlias = Callable[[str, bytes], ExtractedDocument]
Refusal: TypeAlias = Callable[[str, bytes], Skipped]


def zipped(members: dict[str, bytes], method: int = ZIP_DEFLATED) -> bytes:
    file = BytesIO()
    with ZipFile(file, "w", method) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return file.getvalue()


def tarred(*members: tuple[tarfile.TarInfo, bytes]) -> bytes:
    file = BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        for member, data in members:
            archive.addfile(member, BytesIO(data))
    return file.getvalue()


def member(
    name: str, data: bytes = b"", kind: bytes = tarfile.REGTYPE
) -> tuple[tarfile.TarInfo, bytes]:
    info = tarfile.TarInfo(name)
    info.size, info.type, info.linkname = len(data), kind, "/etc/passwd"
    return info, data


def names(found: ExtractedDocument) -> list[str]:
    return [entry.name for entry in found.attachments]


FILES = {
    "plan.md": b"# Plan",
    "deep/er/leave.txt": b"Leave.",
    "../../etc/passwd": b"root",
    "a\\b.txt": b"b",
}


@pytest.mark.parametrize("name", ["all.zip", "all", "all.bin"])
def test_what_is_in_a_zip_file_becomes_attachments_without_a_path(read: Reader, name: str) -> None:
    found = read(name, zipped({**FILES, "deep/": b"", "__MACOSX/x": b"", ".git/config": b""}))

    assert names(found) == ["plan.md", "leave.txt", "passwd", "b.txt"]
    assert found.attachments[1].data == b"Leave."
    assert (found.media_type, found.blocks, found.missing) == ("application/zip", (), ())


@pytest.mark.parametrize("packed", [False, True])
def test_what_is_in_a_tar_file_becomes_attachments_and_links_lead_nowhere(
    read: Reader, packed: bool
) -> None:
    data = tarred(
        member("plan.md", b"# Plan"),
        member("deep", kind=tarfile.DIRTYPE),
        member("../../../x.txt", b"x"),
        member("/abs/y.txt", b"y"),
        member("sym", kind=tarfile.SYMTYPE),
        member("hard", kind=tarfile.LNKTYPE),
        member("device", kind=tarfile.CHRTYPE),
        member(".hidden", b"h"),
    )
    found = read("all.tgz" if packed else "all.tar", gzip.compress(data) if packed else data)

    assert names(found) == ["plan.md", "x.txt", "y.txt"]
    assert found.missing == ("link file sym", "link file hard", "link file device")


def test_a_file_that_is_packed_alone_has_its_name_back(read: Reader) -> None:
    unnamed, named = gzip.compress(b"Leave."), BytesIO()
    with gzip.GzipFile("../notes.txt", "wb", fileobj=named) as file:
        file.write(b"Leave.")

    assert names(read("leave.txt.gz", unnamed)) == ["leave.txt"]
    assert names(read("x.gz", named.getvalue())) == ["notes.txt"]


def test_an_archive_in_an_archive_is_handed_on_unopened(read: Reader) -> None:
    inner = zipped({"x.txt": b"x"})

    found = read("a.zip", zipped({"inner.zip": inner}))

    assert [entry.data for entry in found.attachments] == [inner]


def test_bombs_are_refused_before_they_are_unpacked(refuse: Refusal) -> None:
    zeros = bytes(300 * 2**20)
    many = zipped({str(n): b"" for n in range(10_001)})
    tars = tarred(*(member(str(n)) for n in range(10_001)))

    for name, data in (
        ("a.zip", zipped({"x": zeros})),
        ("a.zip", many),
        ("a.gz", gzip.compress(zeros)),
        ("a.tar", tars),
    ):
        assert refuse(name, data).reason is Reason.BOUNDED


def test_what_many_small_files_unpack_to_is_added_up(refuse: Refusal) -> None:
    part = bytes(2**20)

    found = refuse("a.zip", zipped({str(n): part for n in range(99)}))

    assert found.reason is Reason.BOUNDED


def test_a_tar_file_that_lies_about_a_size_reads_nothing_beyond(refuse: Refusal) -> None:
    info = tarfile.TarInfo("x")
    info.size = 2**40

    assert refuse("a.tar", info.tobuf() + bytes(1024)).reason is Reason.BOUNDED


def test_files_beyond_the_number_allowed_are_missing(read: Reader) -> None:
    found = read("a.zip", zipped({f"{n}.txt": b"x" for n in range(130)}))

    assert len(found.attachments) == ExtractionLimits().attachments
    assert found.missing == ("30 more files",)


def test_a_password_is_told_from_damage(read: Reader, refuse: Refusal) -> None:
    whole = zipped({"x.txt": b"x", "y.txt": b"y"}, ZIP_STORED)
    locked = bytearray(whole)
    for mark in (b"PK\x01\x02", b"PK\x03\x04"):
        at = -1
        while (at := locked.find(mark, at + 1)) >= 0:
            locked[at + (8 if mark == b"PK\x01\x02" else 6)] |= 1
    one = bytearray(whole)
    one[one.find(b"PK\x01\x02") + 8] |= 1
    one[6] |= 1

    assert refuse("a.zip", bytes(locked)).reason is Reason.ENCRYPTED
    assert refuse("a.zip", whole[:-30]).reason is Reason.CORRUPT
    assert names(read("a.zip", bytes(one))) == ["y.txt"]
    assert read("a.zip", bytes(one)).missing == ("file x.txt",)


def test_what_is_damaged_or_oddly_packed_is_missing_and_the_rest_is_there(read: Reader) -> None:
    broken = bytearray(zipped({"x.txt": b"AAAA", "y.txt": b"BBBB"}, ZIP_STORED))
    broken[broken.find(b"AAAA")] = 0
    file = BytesIO()
    with ZipFile(file, "w") as archive:
        archive.writestr("x.txt", b"x" * 99, ZIP_LZMA)
        archive.writestr("y.txt", b"y")
        link = ZipInfo("link")
        link.external_attr = 0o120777 << 16
        archive.writestr(link, "/etc/passwd")

    assert (names(read("a.zip", bytes(broken))), read("a.zip", bytes(broken)).missing) == (
        ["y.txt"],
        ("file x.txt",),
    )
    assert read("a.zip", file.getvalue()).missing == ("file x.txt", "link file link")


def test_an_archive_that_ends_too_early_gives_what_came_before(
    read: Reader, refuse: Refusal
) -> None:
    data = tarred(member("x.txt", b"x"), member("y.txt", b"y" * 4000))

    found = read("a.tar", data[:2000])

    assert names(found) == ["x.txt"]
    assert found.missing
    assert refuse("a.gz", gzip.compress(data)[:-20]).reason is Reason.CORRUPT


def test_an_archive_without_files_is_empty(refuse: Refusal) -> None:
    assert refuse("a.zip", zipped({})).reason is Reason.EMPTY
    assert refuse("a.zip", zipped({"folder/": b""})).reason is Reason.EMPTY
    assert refuse("a.tar.gz", gzip.compress(tarred(member("d", kind=tarfile.DIRTYPE)))).reason is (
        Reason.EMPTY
    )


@given(st.binary(max_size=300), st.sampled_from(["a.zip", "a.tar", "a.gz"]), st.integers(0, 400))
def test_whatever_is_damaged_has_a_described_end(noise: bytes, name: str, at: int) -> None:
    whole = {
        "a.zip": zipped({"x.txt": b"x" * 50}),
        "a.tar": tarred(member("x.txt", b"x" * 50)),
        "a.gz": gzip.compress(b"x" * 50, mtime=0),
    }[name]
    data = whole[:at] + noise + whole[at + len(noise) :]

    found = extract(Source(name, data, ExtractionLimits()))

    assert isinstance(found, ExtractedDocument | Skipped)
