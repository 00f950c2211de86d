"""A process that is killed, told to end, or out of space: nothing is lost, doubled or left open."""

import asyncio
import contextlib
import json
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx2
import pytest

from cogni_domain.knowledge.analysis import analyse
from cogni_domain.knowledge.corpus import IndexId
from cogni_domain.ports.keyword_search import KeywordSearchPort
from cogni_embedded.bootstrap import build
from cogni_kernel import CorpusId, TenantId
from cogni_runtime.bindings import embedded
from cogni_testing import ok

if TYPE_CHECKING:
    from tests.embedded.conftest import Cogni, Running

    Start = Callable[..., Running]

pytestmark = [pytest.mark.xdist_group("crash"), pytest.mark.timeout(600)]

FILES = 60
PAGE = 500
"""Files that the connector lists at once: a checkpoint follows each page."""

VALVES = IndexId(TenantId("acme"), CorpusId("valves"))
SAID = "Everybody gets twenty weeks"
QUESTION = {"message": "How much parental leave do I get?"}
STREAM = {"Accept": "text/event-stream"}
ROWS = {
    "documents": "SELECT source_id, title, version, content_digest, rule FROM documents",
    "chunks": "SELECT d.source_id, c.ordinal, c.text, c.locator, c.document_version"
    " FROM chunks c JOIN documents d ON d.id = c.document_id",
    "vectors": "SELECT d.source_id, c.ordinal, v.readers FROM vectors v"
    " JOIN chunks c ON c.id = v.chunk_id JOIN documents d ON d.id = c.document_id",
    "orphans": "SELECT chunk_id FROM vectors WHERE chunk_id NOT IN (SELECT id FROM chunks)",
    "jobs": "SELECT kind, key, dead FROM jobs",
}


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A folder of many small pages."""
    return folder_of(tmp_path / "files", FILES)


def folder_of(folder: Path, pages: int) -> Path:
    folder.mkdir()
    for n in range(pages):
        text = f"# Page {n}\n\nThe valve of kind {n} closes at {n * 7} degrees.\n\nIt was built in {1900 + n}."
        (folder / f"page-{n:03}.md").write_text(text)
    return folder


def rows(data: Path) -> dict[str, list[tuple[object, ...]]]:
    """Return all that an ingest leaves behind, in an order of its own."""
    with closing(sqlite3.connect(data / "cogni.db")) as database:
        return {name: sorted(database.execute(query), key=repr) for name, query in ROWS.items()}


def count(data: Path, table: str) -> int:
    with closing(sqlite3.connect(data / "cogni.db", timeout=60)) as database:
        found: int = database.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
        return found


def ingest(data: Path, files: Path) -> "subprocess.Popen[bytes]":
    words = ["ingest", str(files), "--corpus", "valves", "--data", str(data)]
    program = [sys.executable, "-m", "cogni_embedded", *words]
    return subprocess.Popen(program, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def until(true: Callable[[], bool]) -> None:
    """Wait for something to be true."""
    give_up = time.monotonic() + 180
    while not true():
        assert time.monotonic() < give_up
        time.sleep(0.005)


async def _words(data: Path) -> list[str]:
    product = build(embedded(data, {}))
    container = product.bindings.container
    engineer = product.demo.people.person("engineer").account
    principal = ok(await product.resolver.current(engineer.tenant_id, engineer.id))
    scope = ok(await product.retrieval.scopes.resolve(principal, [VALVES.corpus_id]))
    search = container.resolve(KeywordSearchPort).search
    hits = ok(await search(VALVES, analyse("valve degrees"), scope.predicate, 1000))
    await product.bindings.close()
    return [str(hit.chunk_id) for hit in hits]


def found_by_words(data: Path) -> list[tuple[object, ...]]:
    """Return what the word index holds of the folder, each passage as often as it does."""
    hits = asyncio.run(_words(data))
    with closing(sqlite3.connect(data / "cogni.db")) as database:
        query = "SELECT d.source_id, c.ordinal FROM chunks c JOIN documents d ON d.id = c.document_id WHERE c.id = ?"
        return sorted(database.execute(query, [hit]).fetchone() for hit in hits)


def test_an_ingest_killed_again_and_again_ends_as_one_that_was_not(
    cogni: "Cogni", data: Path, files: Path, tmp_path: Path
) -> None:
    whole = tmp_path / "whole"
    shutil.copytree(data, whole)
    assert cogni("ingest", files, "--corpus", "valves", data=whole).exit_code == 0
    before = count(data, "documents")

    for taken in (5, 30, FILES):
        with ingest(data, files) as process:
            until(partial(_has_taken, data, before + taken, process))
            process.kill()
        let_go(data)
    last = cogni("ingest", files, "--corpus", "valves", data=data)

    assert last.exit_code == 0, last.output
    assert rows(data) == rows(whole)
    assert rows(data)["orphans"] == rows(data)["jobs"] == []
    assert found_by_words(data) == found_by_words(whole)
    assert len(found_by_words(data)) == FILES


def _has_taken(data: Path, documents: int, process: "subprocess.Popen[bytes]") -> bool:
    return count(data, "documents") >= documents or process.poll() is not None


def let_go(data: Path) -> None:
    """Let the leases of a killed process run out."""
    with closing(sqlite3.connect(data / "cogni.db", timeout=60)) as database:
        database.execute("UPDATE jobs SET due_at = NULL WHERE lease IS NOT NULL")
        database.commit()


def test_an_ingest_goes_on_from_its_checkpoint(data: Path, tmp_path: Path, cogni: "Cogni") -> None:
    files = folder_of(tmp_path / "many", PAGE + 20)
    with ingest(data, files) as process:
        until(lambda: _cursor(data) != "" or process.poll() is not None)
        process.kill()
    assert _cursor(data), "it was over before it could be killed"
    let_go(data)

    last = cogni("ingest", files, "--corpus", "valves", data=data)

    assert last.exit_code == 0, last.output
    assert "20 documents: " in last.stdout
    assert count(data, "documents WHERE corpus_id = 'valves'") == PAGE + 20


def _cursor(data: Path) -> str:
    with closing(sqlite3.connect(data / "cogni.db", timeout=60)) as database:
        query = "SELECT cursor FROM jobs WHERE kind = 'ingest_source'"
        found = database.execute(query).fetchone()
        return "" if found is None or found[0] is None else str(found[0])


def answering(start: "Start", data: Path, **settings: Any) -> "Running":
    """Start the slow product."""
    program = (str(Path(__file__).with_name("slow_product.py")),)
    return start(data, program=program, **settings).until_ready()


class Reading(threading.Thread):
    """Somebody who asked, and reads until the stream ends or breaks."""

    def __init__(self, running: "Running", token: str) -> None:
        super().__init__(daemon=True)
        self._client = running.client(token, **STREAM)
        self.text = ""
        self.start()
        until(lambda: "event: citation" in self.text)

    def run(self) -> None:
        with (
            contextlib.suppress(httpx2.TransportError),
            self._client as client,
            client.stream("POST", "/v1/turns", json=QUESTION) as response,
        ):
            for piece in response.iter_text():
                self.text += piece

    @property
    def run_ref(self) -> str:
        return str(json.loads(self.data("run"))["run_ref"])

    def data(self, event: str) -> str:
        found = re.search(f"^event: {event}\ndata: (.*)$", self.text, re.MULTILINE)
        assert found is not None, self.text
        return found[1]


def sealed(running: "Running", token: str, run_ref: str) -> tuple[str, dict[str, Any]]:
    """Return the terminal event of a run and its outcome, as soon as there is one."""
    with running.client(token) as client:
        text = client.get(f"/v1/runs/{run_ref}/events").text
    found = re.findall("^event: (.*)\ndata: (.*)$", text, re.MULTILINE)[-1]
    return found[0], json.loads(found[1])["outcome"]


def test_an_answer_killed_in_the_middle_is_sealed_by_the_next_process(
    data: Path, start: "Start", cogni: "Cogni"
) -> None:
    token = cogni("token", "--as", "engineer", data=data).stdout.strip()
    killed = answering(start, data)
    reading = Reading(killed, token)
    killed.end(signal.SIGKILL)
    reading.join(60)

    after = answering(start, data)
    restarted = time.monotonic()
    name, outcome = sealed(after, token, reading.run_ref)

    assert time.monotonic() - restarted < 10
    assert "event: failed" not in reading.text
    assert (name, outcome["kind"]) == ("failed", "failed")
    assert outcome["text"].startswith(SAID)
    assert [c["handle"] for c in outcome["citations"]] == ["s1"]
    assert "interrupted" in outcome["message"]
    assert sealed(after, token, reading.run_ref) == (name, outcome)


def test_told_to_end_it_seals_what_it_was_saying_and_says_so(
    data: Path, start: "Start", cogni: "Cogni"
) -> None:
    token = cogni("token", "--as", "engineer", data=data).stdout.strip()
    running = answering(start, data)
    readings = [Reading(running, token) for _ in range(3)]

    status = running.end(signal.SIGTERM)

    assert status == 0, running.said
    for reading in readings:
        reading.join(60)
        outcome = json.loads(reading.data("done"))["outcome"]
        assert outcome["kind"] == "halted"
        assert outcome["text"].startswith(SAID)
    assert "Traceback" not in running.said
    assert not (data / "server.json").exists()
    again = answering(start, data)
    assert sealed(again, token, readings[0].run_ref)[1]["kind"] == "halted"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_an_idle_product_ends_cleanly(data: Path, start: "Start", number: signal.Signals) -> None:
    running = start(data).until_ready()

    assert running.end(number) == 0, running.said
    assert "Traceback" not in running.said


def test_a_full_disk_is_said_and_nothing_is_spoilt(
    cogni: "Cogni", data: Path, files: Path, disk: "Callable[[str], Path]", tmp_path: Path
) -> None:
    used = sum(file.stat().st_blocks * 512 for file in data.rglob("*"))
    small = disk(f"size={used + 2**19}")
    shutil.copytree(data, small / "data")
    before = rows(small / "data")
    for n in range(4):
        (files / f"long-{n}.md").write_text(
            "\n\n".join(f"Valve {n}.{m} is shut. " * 40 for m in range(60))
        )

    with ingest(small / "data", files) as process:
        complained = process.communicate(timeout=400)[1].decode()

    assert process.returncode == 1, complained
    assert "space" in complained
    assert "Traceback" not in complained
    assert set(before["chunks"]) <= set(rows(small / "data")["chunks"])
    shutil.copytree(small / "data", tmp_path / "larger")
    let_go(tmp_path / "larger")
    again = cogni("ingest", files, "--corpus", "valves", data=tmp_path / "larger")
    assert again.exit_code == 0, again.output
    assert rows(tmp_path / "larger")["jobs"] == []


def test_a_folder_that_changes_while_it_is_read_is_followed_in_the_end(
    cogni: "Cogni", data: Path, files: Path
) -> None:
    stop = threading.Event()

    def change() -> None:
        n = 0
        while not stop.is_set():
            n += 1
            (files / f"page-{n % FILES:03}.md").write_text(f"Changed {n}: the valve is shut.")
            (files / f"new-{n % 7}.md").write_text(f"New {n}.")
            (files / f"new-{(n + 3) % 7}.md").unlink(missing_ok=True)
            time.sleep(0.002)

    changing = threading.Thread(target=change)
    changing.start()
    during = cogni("ingest", files, "--corpus", "valves", data=data)
    stop.set()
    changing.join()
    after = cogni("ingest", files, "--corpus", "valves", data=data)

    assert (during.exit_code, after.exit_code) == (0, 0), during.output
    found = {str(row[0]).rpartition(":")[2]: str(row[2]) for row in rows(data)["chunks"]}
    for page in files.iterdir():
        assert found[page.name].strip() == page.read_text().strip()
    assert {name for name in found if name.startswith("new-")} == {
        page.name for page in files.glob("new-*")
    }
