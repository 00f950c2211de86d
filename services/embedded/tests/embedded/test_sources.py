from pathlib import Path

import pytest

from cogni_acme.people import load_people
from cogni_domain.jobs import Job
from cogni_domain.knowledge.extracted import ExtractedDocument, Skipped
from cogni_domain.ports.extractor import ExtractorPort
from cogni_embedded.sources import FolderSource, KnownFolders, Sources, reader_tokens
from cogni_kernel import CorpusId, InvalidArgumentError, TenantId
from cogni_testing import err, ok

ACME = TenantId("acme")


class NoExtractor(ExtractorPort):
    """Is never asked."""

    async def extract(self, name: str, data: bytes) -> ExtractedDocument | Skipped:
        raise AssertionError(name)


@pytest.mark.parametrize(
    ("name", "corpus"),
    [
        ("Handbook", "handbook"),
        ("18F handbook (2024)", "18f-handbook-2024"),
        ("員工手冊", "員工手冊"),
        ("דפים", "דפים"),
        ("..", "folder"),
        ("", "folder"),
    ],
)
def test_a_corpus_is_named_by_its_letters(name: str, corpus: str) -> None:
    assert FolderSource(Path("x"), name).corpus_id == CorpusId(corpus)


@pytest.mark.parametrize(
    ("named", "tokens"),
    [
        ("everyone", ("everyone",)),
        ("g:hr", ("g:directory/hr",)),
        ("g:directory/hr", ("g:directory/hr",)),
        (" g:hr , u:engineer ", ("g:directory/hr", "u:engineer")),
        ("a:region=eu", ("a:region=eu",)),
    ],
)
def test_readers_are_named_as_people_write_them(named: str, tokens: tuple[str, ...]) -> None:
    assert ok(reader_tokens(load_people(), named)) == tokens


@pytest.mark.parametrize(
    "named", ["", ",", "hr", "g:", "g:wiki/hr", "u:outsider", "r:00", "EVERYONE"]
)
def test_readers_that_are_nobody_are_refused_with_those_there_are(named: str) -> None:
    refused = err(reader_tokens(load_people(), named), InvalidArgumentError)

    assert "g:directory/hr" in str(refused.message)
    assert "u:engineer" in str(refused.message)


def job(**payload: str) -> Job:
    return Job("ingest_source", ACME, "k", payload)


def test_a_job_names_its_source_whatever_process_does_it(tmp_path: Path) -> None:
    sources = Sources({}, NoExtractor(), KnownFolders(None))
    source = FolderSource(tmp_path, "x", ("u:engineer",))

    assert sources.connector_of(job(**source.payload())) is not None
    assert sources.connector_of(job(**FolderSource(tmp_path, "x", None).payload())) is not None


def test_a_source_that_is_gone_is_none(tmp_path: Path) -> None:
    sources = Sources({}, NoExtractor(), KnownFolders(None))

    assert sources.connector_of(job(**FolderSource(tmp_path / "gone", "x").payload())) is None
    assert sources.connector_of(job(source="intranet")) is None


def test_folders_are_known_in_the_next_process_with_what_tells_them_from_others(
    tmp_path: Path,
) -> None:
    source = FolderSource(tmp_path, "x", ("u:engineer",))
    read = Job("ingest_source", ACME, f"x/{tmp_path}", {**source.payload(), "corpus_id": "x"})
    KnownFolders(tmp_path / "folders.json").keep(read, "8:15")

    known = KnownFolders(tmp_path / "folders.json")

    assert known.jobs() == [read]
    assert known.root_of(read) == "8:15"
    assert known.root_of(job()) is None


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"k": {"path": "/x"}}', '{"k": 1}', "\x00"])
def test_a_file_of_folders_that_cannot_be_read_knows_none(tmp_path: Path, text: str) -> None:
    (tmp_path / "folders.json").write_text(text)

    assert KnownFolders(tmp_path / "folders.json").jobs() == []
