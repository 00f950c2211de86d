"""Folders of a running product are followed: what changes there can be asked within moments, without a restart."""

import contextlib
import os
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx2
import pytest

if TYPE_CHECKING:
    from tests.embedded.conftest import Cogni, Running

    Start = Callable[..., Running]
    Ask = Callable[[Running], "Asked"]

pytestmark = [pytest.mark.xdist_group("following"), pytest.mark.timeout(300)]

SEEN_WITHIN_S = 20.0
"""Much more than it takes (about a second), since machines that test are busy."""

QUESTION = {"message": "What is the code word of the zebra valve?"}


@pytest.fixture
def ask(cogni: "Cogni") -> Iterator[Callable[["Running"], "Asked"]]:
    """Ask as an engineer."""
    with contextlib.ExitStack() as clients:
        yield lambda running: Asked(running, cogni, clients)


class Asked:
    """One person of the demo company, asking a running product."""

    def __init__(self, running: "Running", cogni: "Cogni", clients: contextlib.ExitStack) -> None:
        token = cogni("token", "--as", "engineer", data=running.data).stdout.strip()
        self._client: httpx2.Client = clients.enter_context(
            running.client(token, Accept="application/json")
        )

    def answer(self) -> str:
        outcome: dict[str, Any] = self._client.post("/v1/turns", json=QUESTION).json()
        return str(outcome["text"])

    def until(self, is_right: Callable[[str], bool]) -> None:
        """Ask until the answer is right."""
        began = time.monotonic()
        while not is_right(answer := self.answer()):
            assert time.monotonic() - began < SEEN_WITHIN_S, answer
            time.sleep(0.1)

    def until_known(self, word: str) -> None:
        self.until(lambda answer: word in answer)

    def until_unknown(self, word: str) -> None:
        self.until(lambda answer: word not in answer)


def page(word: str) -> str:
    return f"# Zebra valve\n\nThe code word of the zebra valve is {word}.\n"


def rows(data: Path, query: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(data / "cogni.db")) as connection:
        return connection.execute(query).fetchall()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "valves"
    (folder / "old").mkdir(parents=True)
    (folder / "old" / "zebra.md").write_text(page("ULTRAMARINE"))
    (folder / "readme.md").write_text("# Valves\n\nAll about valves.\n")
    return folder


def test_everything_that_happens_in_a_folder_is_seen_without_a_restart(
    data: Path, folder: Path, start: "Start", cogni: "Cogni", ask: "Ask"
) -> None:
    running = start(data, more=["--folder", str(folder)]).until_ready()
    asked = ask(running)
    asked.until_known("ULTRAMARINE")
    passages = "SELECT chunk_id, hex(embedding) FROM vectors WHERE corpus_id = 'valves'"
    before = rows(data, passages)

    (folder / "old").rename(folder / "new")
    moved = "SELECT count(*) FROM documents WHERE source_id LIKE '%:new/zebra.md'"
    until = time.monotonic() + SEEN_WITHIN_S
    while rows(data, moved) != [(1,)]:
        assert time.monotonic() < until
        time.sleep(0.1)
    asked.until_known("ULTRAMARINE")
    assert rows(data, passages) == before, "nothing was embedded"

    (folder / "new" / "zebra.md").write_text(page("VERMILION"))
    asked.until_known("VERMILION")
    shutil.rmtree(folder / "new")
    asked.until_unknown("VERMILION")
    (folder / "late.md").write_text(page("CHARTREUSE"))
    asked.until_known("CHARTREUSE")

    assert running.end() == 0


def test_a_folder_that_was_read_before_is_followed_after_a_start_that_does_not_name_it(
    data: Path, folder: Path, start: "Start", cogni: "Cogni", ask: "Ask"
) -> None:
    folder.chmod(0o755)
    (folder / "old").chmod(0o755)
    (folder / "old" / "zebra.md").chmod(0o644)
    for above in folder.parents:
        if above.stat().st_uid == os.getuid() and not above.stat().st_mode & 0o001:
            above.chmod(above.stat().st_mode | 0o055)
    done = cogni("ingest", folder, "--corpus", "valves", "--posix", data=data)
    assert done.exit_code == 0, done.output
    (folder / "old" / "zebra.md").write_text(page("VERMILION"))

    asked = ask(start(data).until_ready())

    asked.until_known("VERMILION")
    (folder / "old").chmod(0o700)
    asked.until_unknown("VERMILION")
    (folder / "old").chmod(0o755)
    asked.until_known("VERMILION")


def test_a_folder_that_is_not_there_deletes_nothing_and_is_listed_until_it_is_back(
    data: Path, folder: Path, start: "Start", cogni: "Cogni", ask: "Ask"
) -> None:
    running = start(data, more=["--folder", str(folder)]).until_ready()
    asked = ask(running)
    asked.until_known("ULTRAMARINE")
    listed = "SELECT count(*) FROM gaps WHERE corpus_id = 'valves'"

    away = folder.rename(folder.with_name("away"))
    folder.mkdir()
    until = time.monotonic() + SEEN_WITHIN_S
    while rows(data, listed) != [(1,)]:
        assert time.monotonic() < until
        time.sleep(0.1)
    asked.until_known("ULTRAMARINE")
    again = cogni("ingest", folder, "--corpus", "valves", data=data)
    assert again.exit_code != 0
    asked.until_known("ULTRAMARINE")

    folder.rmdir()
    (away / "old" / "zebra.md").write_text(page("VERMILION"))
    away.rename(folder)

    asked.until_known("VERMILION")
    assert rows(data, listed) == [(0,)]


def test_a_process_that_was_killed_leaves_its_jobs_to_the_next_one_at_once(
    data: Path, folder: Path, cogni: "Cogni"
) -> None:
    with closing(sqlite3.connect(data / "cogni.db")) as connection, connection:
        connection.execute(
            "INSERT INTO jobs (lane, kind, tenant_id, key, payload, attempt, dead, lease, due_at)"
            " SELECT 'indexing', 'index_document', 'acme', 'k', json_object('document_id', id,"
            " 'corpus_id', corpus_id), 1, 0, '1.1', '2999-01-01 00:00:00.000000'"
            " FROM documents LIMIT 1"
        )

    done = cogni("ingest", folder, "--corpus", "valves", data=data)

    assert done.exit_code == 0, done.output
    assert rows(data, "SELECT kind, key, reason FROM jobs") == []
