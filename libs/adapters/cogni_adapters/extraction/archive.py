"""Archives: what is in them becomes documents of its own, unpacked in memory and never to a path."""

import gzip
import tarfile
import zlib
from io import BytesIO
from pathlib import PurePosixPath
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

from cogni_adapters.extraction.draft import Draft, Source
from cogni_adapters.extraction.ooxml import DAMAGE, MAX_MEMBERS, SMALL_BYTES, refuse_bombs
from cogni_adapters.extraction.refusal import NotExtractedError
from cogni_domain.knowledge.extracted import Reason

GZIP = b"\x1f\x8b\x08"
_TAR_MARK = slice(257, 262)
_HEADER_FLAG_NAME = 8
_TOO_MUCH = "The archive would unpack to more than the limits allow: refused."
_BROKEN = (*DAMAGE, tarfile.TarError, gzip.BadGzipFile)


def read_zip(source: Source, draft: Draft) -> None:
    """Members in their order; one that is encrypted, damaged or oddly packed is missing."""
    with _opened(source) as archive:
        members = [
            m for m in archive.infolist() if not m.is_dir() and not _is_furniture(m.filename)
        ]
        refuse_bombs(members, len(source.data), source.limits)
        if members and all(member.flag_bits & 1 for member in members):
            raise NotExtractedError(
                Reason.ENCRYPTED, "A password protects the archive: pack it without one."
            )
        for member in members[: source.limits.attachments]:
            _zip_member(archive, member, draft)
        _note_rest(draft, len(members) - source.limits.attachments)
    _refuse_empty(draft)


def read_tar(source: Source, draft: Draft) -> None:
    """Regular files in their order; links and devices are missing, and lead nowhere."""
    _tar(source.data, source, draft)
    _refuse_empty(draft)


def read_gzip(source: Source, draft: Draft) -> None:
    """The one file that is packed, or the archive that it is."""
    data = _inflated(source)
    if is_tar(data):
        _tar(data, source, draft)
    else:
        draft.attach(_packed_name(source), data)
    _refuse_empty(draft)


def is_tar(data: bytes) -> bool:
    """Tell whether it begins with the header of a member."""
    return data[_TAR_MARK] == b"ustar"


def members_of(source: Source) -> frozenset[str]:
    """Return the names in a zip file.

    Errors:
        NotExtractedError: CORRUPT.
    """
    with _opened(source) as archive:
        return frozenset(archive.namelist())


def _opened(source: Source) -> ZipFile:
    try:
        return ZipFile(BytesIO(source.data))
    except _BROKEN as error:
        raise NotExtractedError.corrupt("The file is cut off or damaged: copy it again.") from error


def _zip_member(archive: ZipFile, member: ZipInfo, draft: Draft) -> None:
    if member.flag_bits & 1 or member.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
        draft.lacks(_shown(member.filename))
        return
    if member.external_attr >> 16 & 0o170000 == 0o120000:
        draft.lacks(f"link {_shown(member.filename)}")
        return
    try:
        draft.attach(member.filename, archive.read(member))
    except _BROKEN:
        draft.lacks(_shown(member.filename))


def _tar(data: bytes, source: Source, draft: Draft) -> None:
    unpacked = taken = seen = 0
    try:
        with tarfile.open(fileobj=BytesIO(data), mode="r:") as archive:
            for member in archive:
                seen += 1
                unpacked += member.size
                if seen > MAX_MEMBERS or unpacked > source.limits.unpacked_bytes:
                    raise NotExtractedError(Reason.BOUNDED, _TOO_MUCH)
                if member.isdir() or _is_furniture(member.name):
                    continue
                if not member.isreg() or member.issparse():
                    draft.lacks(f"link {_shown(member.name)}")
                    continue
                taken += 1
                file = archive.extractfile(member)
                if file is not None and taken <= source.limits.attachments:
                    draft.attach(member.name, file.read())
    except _BROKEN as error:
        if not draft.has_attachments:
            raise NotExtractedError.corrupt("The archive is cut off or damaged.") from error
        draft.lacks(f"what follows file {taken}")
    _note_rest(draft, taken - source.limits.attachments)


def _inflated(source: Source) -> bytes:
    """Unpack to no more than the limits; what a damaged file still gave is not trusted."""
    most = min(
        source.limits.unpacked_bytes,
        max(len(source.data) * source.limits.unpack_ratio, SMALL_BYTES),
    )
    try:
        with gzip.GzipFile(fileobj=BytesIO(source.data)) as file:
            data = file.read(most + 1)
    except (*_BROKEN, zlib.error) as error:
        raise NotExtractedError.corrupt("The file is cut off or damaged: copy it again.") from error
    if len(data) > most:
        raise NotExtractedError(Reason.BOUNDED, _TOO_MUCH)
    return data


def _packed_name(source: Source) -> str:
    """Return the name that the archive gives its file; else its own without the ending."""
    if len(source.data) > 10 and source.data[3] == _HEADER_FLAG_NAME:
        named = source.data[10:1034].partition(b"\x00")[0].decode("latin-1")
        if named.strip():
            return named
    own = PurePosixPath(source.name)
    return own.stem if own.suffix.lower() in (".gz", ".gzip") else own.name


def _is_furniture(name: str) -> bool:
    """Tell whether it is hidden, as in a folder of files, or what an operating system put there."""
    parts = PurePosixPath(name.replace("\\", "/")).parts
    return any(
        part == "__MACOSX" or (part.startswith(".") and part not in (".", "..")) for part in parts
    )


def _shown(name: str) -> str:
    return f"file {name.replace(chr(92), '/').rsplit('/', 1)[-1]}"


def _note_rest(draft: Draft, count: int) -> None:
    if count > 0:
        draft.lacks(f"{count} more files")


def _refuse_empty(draft: Draft) -> None:
    if not draft.has_attachments and not draft.has_missing:
        raise NotExtractedError(Reason.EMPTY, "The archive holds no files: look at the original.")
