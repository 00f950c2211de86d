"""The command line by itself: no product runs on the data folder."""

import json
import os
import shutil
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.embedded.conftest import Cogni

pytestmark = pytest.mark.xdist_group("product")

LEAVE = "How much parental leave do I get?"
COMMANDS = [
    ("ask", LEAVE, "--as", "engineer"),
    ("token", "--as", "engineer"),
    ("ingest", ".", "--corpus", "x"),
]


def test_migrating_twice_changes_nothing(cogni: "Cogni", tmp_path: Path) -> None:
    first, again = (cogni("migrate", data=tmp_path / "new") for _ in "ab")

    assert (first.exit_code, again.exit_code) == (0, 0)
    assert first.stdout == again.stdout
    assert "is at revision" in first.stdout


@pytest.mark.parametrize("command", COMMANDS, ids=lambda c: c[0])
def test_a_data_folder_that_is_not_there_is_named_and_not_made(
    cogni: "Cogni", tmp_path: Path, command: tuple[str, ...]
) -> None:
    refused = cogni(*command, data=tmp_path / "typo")

    assert refused.exit_code == 1
    assert f"There is no data folder {tmp_path / 'typo'}" in refused.stderr
    assert "cogni migrate" in refused.stderr
    assert not (tmp_path / "typo").exists()


@pytest.mark.parametrize("command", [*COMMANDS, ("run",)], ids=lambda c: c[0])
def test_a_database_without_a_schema_names_the_command(
    cogni: "Cogni", tmp_path: Path, command: tuple[str, ...]
) -> None:
    refused = cogni(*command, data=tmp_path)

    assert refused.exit_code == 1
    assert "has no schema yet" in refused.stderr
    assert "cogni migrate" in refused.stderr
    assert not refused.stdout


@pytest.mark.parametrize("command", [*COMMANDS, ("run",), ("migrate",)], ids=lambda c: c[0])
def test_a_database_of_a_later_version_is_refused(
    cogni: "Cogni", data: Path, command: tuple[str, ...]
) -> None:
    with sqlite3.connect(data / "cogni.db") as database:
        database.execute("UPDATE alembic_version SET version_num = '9999'")

    refused = cogni(*command, data=data)

    assert refused.exit_code == 1
    assert "9999" in refused.stderr or "later version" in refused.stderr


@pytest.mark.parametrize("command", [("run",), ("migrate",)], ids=lambda c: c[0])
@pytest.mark.parametrize("name", ["file", "file/below", "what?", "/proc/nowhere"])
def test_a_data_folder_that_cannot_be_used_is_named(
    cogni: "Cogni", tmp_path: Path, command: tuple[str, ...], name: str
) -> None:
    (tmp_path / "file").write_text("")

    refused = cogni(*command, data=tmp_path / name)

    assert refused.exit_code == 1
    assert f"The data folder {tmp_path / name} cannot be used" in refused.stderr
    assert "--data" in refused.stderr


def test_a_data_folder_that_nobody_may_write_is_named(
    cogni: "Cogni", disk: "Callable[[str], Path]"
) -> None:
    folder = disk("ro")

    for command in ("run", "migrate"):
        refused = cogni(command, data=folder)
        assert refused.exit_code == 1
        assert f"The data folder {folder} cannot be used: Read-only file system" in refused.stderr


@pytest.mark.parametrize("name", ["with space", "percent%41", "hash#1", "日本 ü", "a&b=c;d"])
def test_a_data_folder_may_be_called_anything_else(
    cogni: "Cogni", tmp_path: Path, name: str
) -> None:
    made = cogni("migrate", data=tmp_path / name)

    assert made.exit_code == 0, made.output
    assert (tmp_path / name / "cogni.db").exists()


@pytest.mark.parametrize("command", COMMANDS[:2], ids=lambda c: c[0])
def test_an_unknown_principal_is_answered_with_those_there_are(
    cogni: "Cogni", data: Path, command: tuple[str, ...]
) -> None:
    refused = cogni(*command[:-1], "nobody", data=data)

    assert refused.exit_code == 1
    assert "there is no nobody; there are" in refused.stderr
    assert "hr-lead" in refused.stderr


def test_the_first_question_reads_the_company_first(cogni: "Cogni", tmp_path: Path) -> None:
    cogni("migrate", data=tmp_path)

    asked = cogni("ask", LEAVE, "--as", "engineer", "--json", data=tmp_path)

    assert asked.exit_code == 0
    assert "20 weeks" in json.loads(asked.stdout)["text"]


def test_the_json_of_an_answer_is_one_stable_line(cogni: "Cogni", data: Path) -> None:
    asked = cogni("ask", LEAVE, "--as", "hr-lead", "--json", data=data)

    assert asked.exit_code == 0
    assert asked.stdout.count("\n") == 1
    assert list(json.loads(asked.stdout)) == [
        *("run_ref", "conversation_id", "kind", "text", "citations", "markers", "proposal"),
        *("reason", "message", "usage", "indexed_through", "html", "generated_label"),
    ]
    assert not asked.stderr


def test_a_change_that_waits_is_shown_with_how_to_decide(cogni: "Cogni", data: Path) -> None:
    wish = "Please book vacation for me from 2027-02-01 to 2027-02-02"

    asked = cogni("ask", wish, "--as", "engineer", data=data)

    assert asked.exit_code == 0
    assert "  Dates: Monday 1 February 2027 to Tuesday 2 February 2027" in asked.stdout
    assert "Nothing has changed yet." in asked.stdout
    assert "/accept" in asked.stdout


@pytest.mark.parametrize("question", ["", " \t", "\u200b\u2060", "x" * 40_000])
def test_a_question_that_is_none_is_refused(cogni: "Cogni", data: Path, question: str) -> None:
    asked = cogni("ask", question, "--as", "engineer", data=data)

    assert asked.exit_code == 1
    assert "Please write a question." in asked.stderr or "too long" in asked.stderr


def test_a_question_that_is_no_text_is_asked_all_the_same(cogni: "Cogni", data: Path) -> None:
    asked = cogni("ask", "parental leave \udcff?", "--as", "engineer", "--json", data=data)

    assert asked.exit_code == 0
    assert json.loads(asked.stdout)["kind"] == "completed"


PROVIDER = {"OPENAI_BASE_URL": "http://127.0.0.1:9/v1", "OPENAI_API_KEY": "sk-secret"}
MODEL = {"COGNI_MODEL": "qwen3-8b-q4"}


class Refusing(BaseHTTPRequestHandler):
    """A provider that takes no request."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(400)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        return


@pytest.fixture
def refusing() -> Iterator[dict[str, str]]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Refusing) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield {**PROVIDER, **MODEL, "OPENAI_BASE_URL": f"http://127.0.0.1:{server.server_port}/v1"}
        server.shutdown()


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_an_answer_that_failed_says_why_and_is_an_error(
    cogni: "Cogni", data: Path, refusing: dict[str, str], form: tuple[str, ...]
) -> None:
    asked = cogni("ask", LEAVE, "--as", "engineer", *form, data=data, **refusing)

    assert asked.exit_code == 1, asked.output
    assert "sk-secret" not in asked.output
    if form:
        assert json.loads(asked.stdout)["kind"] == "failed"
    else:
        assert len(asked.stdout.strip().splitlines()) == 2
        assert "Generated answer." in asked.stdout


def test_a_provider_that_is_away_is_said_once(cogni: "Cogni", data: Path) -> None:
    asked = cogni("ask", LEAVE, "--as", "engineer", data=data, **PROVIDER, **MODEL)

    assert asked.exit_code == 0
    assert asked.stdout.count("can't be reached") == 1


@pytest.mark.parametrize("command", [*COMMANDS, ("run",)], ids=lambda c: c[0])
def test_a_provider_without_its_model_is_refused_at_the_start(
    cogni: "Cogni", data: Path, command: tuple[str, ...]
) -> None:
    refused = cogni(*command, data=data, **PROVIDER)

    assert refused.exit_code == 1
    assert "model" in refused.stderr
    assert "sk-secret" not in refused.output


def test_a_folder_to_answer_from_that_is_not_there_is_named(
    cogni: "Cogni", data: Path, tmp_path: Path
) -> None:
    refused = cogni("run", "--folder", tmp_path / "nowhere", "--port", free_port(), data=data)

    assert refused.exit_code == 1
    assert f"There is no {tmp_path / 'nowhere'}" in refused.stderr


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def test_a_token_is_printed_alone(cogni: "Cogni", data: Path) -> None:
    printed = cogni("token", "--as", "engineer", data=data)

    assert printed.exit_code == 0
    assert len(printed.stdout.strip().split(".")) == 3
    assert printed.output.count("\n") == 1


def test_a_token_of_a_company_that_is_not_there_yet_says_how_to_begin(
    cogni: "Cogni", tmp_path: Path
) -> None:
    cogni("migrate", data=tmp_path)

    refused = cogni("token", "--as", "engineer", data=tmp_path)

    assert refused.exit_code == 1
    assert "cogni run" in refused.stderr


def folder(tmp_path: Path, **files: str) -> Path:
    """Return a folder with text files of these names and contents."""
    made = tmp_path / "files"
    made.mkdir()
    for name, text in files.items():
        (made / f"{name}.md").write_text(text)
    return made


def text_of(cogni: "Cogni", data: Path, question: str, person: str) -> str:
    asked = cogni("ask", question, "--as", person, "--json", data=data)
    outcome: dict[str, Any] = json.loads(asked.stdout)
    return str(outcome["text"])


def test_what_was_ingested_answers_those_who_may_read_it(
    cogni: "Cogni", data: Path, tmp_path: Path
) -> None:
    files = folder(tmp_path, menu="# Canteen\n\nOn Friday the canteen serves plaice with capers.")

    read = cogni("ingest", files, "--corpus", "canteen", "--readers", "g:hr,u:support", data=data)

    asked = "What does the canteen serve on Friday?"
    assert read.exit_code == 0
    assert "canteen is read and indexed; 0 on the gap list." in read.stdout
    for person, may in {
        "hr-lead": True,
        "support": True,
        "engineer": False,
        "outsider": False,
    }.items():
        assert ("plaice" in text_of(cogni, data, asked, person)) is may


def test_ingesting_again_follows_the_folder(cogni: "Cogni", data: Path, tmp_path: Path) -> None:
    files = folder(
        tmp_path, a="The canteen serves plaice with kohlrabi.", b="No kohlrabi after two."
    )
    cogni("ingest", files, "--corpus", "canteen", data=data)
    (files / "a.md").write_text("The canteen serves lentils with kohlrabi.")
    (files / "b.md").unlink()

    again = cogni("ingest", files, "--corpus", "canteen", data=data)

    assert again.exit_code == 0
    with sqlite3.connect(data / "cogni.db") as database:
        rows = database.execute("SELECT text FROM chunks WHERE text LIKE '%kohlrabi%'").fetchall()
    assert [row[0] for row in rows] == ["The canteen serves lentils with kohlrabi."]


def test_modes_are_mapped_where_that_is_asked(cogni: "Cogni", data: Path, tmp_path: Path) -> None:
    files = folder(tmp_path, menu="On Friday the canteen serves plaice with capers.")
    (files / "menu.md").chmod(0o600)

    read = cogni("ingest", files, "--corpus", "canteen", "--posix", data=data)

    assert read.exit_code == 0
    assert "plaice" not in text_of(cogni, data, "What does the canteen serve?", "engineer")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("nowhere", "--corpus", "x"), "Name a file or folder that exists."),
        ((".", "--corpus", " "), "A corpus needs a name."),
        ((".", "--corpus", "x", "--readers", "hr"), "There is no reader hr."),
        ((".", "--corpus", "x", "--readers", "g:nobody"), "There is no reader g:nobody."),
        ((".", "--corpus", "x", "--readers", "u:nobody"), "g:directory/engineering"),
        ((".", "--corpus", "x", "--readers", "r:abc"), "u:engineer"),
        ((".", "--corpus", "x", "--readers", ""), "Name a reader."),
        ((".", "--corpus", "x", "--readers", ","), "Name a reader."),
        ((".", "--corpus", "x", "--readers", "g:hr", "--posix"), "not both"),
    ],
)
def test_an_ingest_that_cannot_be_meant_is_refused(
    cogni: "Cogni", data: Path, arguments: tuple[str, ...], says: str
) -> None:
    refused = cogni("ingest", *arguments, data=data)

    assert refused.exit_code == 1
    assert says in refused.stderr


def test_a_folder_that_leads_in_a_circle_is_refused(
    cogni: "Cogni", data: Path, tmp_path: Path
) -> None:
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")

    refused = cogni("ingest", tmp_path / "a", "--corpus", "x", data=data)

    assert refused.exit_code == 1
    assert "Name a file or folder that exists." in refused.stderr


def test_names_that_are_not_utf_8_are_read(cogni: "Cogni", data: Path, tmp_path: Path) -> None:
    files = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9"))
    files.mkdir()
    (files / os.fsdecode(b"men\xfc.md")).write_text("On Friday the canteen serves plaice.")

    read = cogni("ingest", files, "--corpus", "caf\udce9", data=data)
    asked = cogni("ask", "What does the canteen serve?", "--as", "engineer", "--json", data=data)

    assert read.exit_code == 0, read.output
    assert "plaice" in json.loads(asked.stdout)["text"]


class TestDoctor:
    def test_a_folder_that_is_not_there(self, cogni: "Cogni", tmp_path: Path) -> None:
        found = cogni("doctor", data=tmp_path / "nowhere")

        assert found.exit_code == 1
        assert f"problem data folder: {tmp_path / 'nowhere'} is not there" in found.stdout
        assert "cogni migrate" in found.stdout
        assert not (tmp_path / "nowhere").exists()

    def test_a_folder_without_a_database_stays_without(
        self, cogni: "Cogni", tmp_path: Path
    ) -> None:
        found = cogni("doctor", data=tmp_path)

        assert found.exit_code == 1
        assert "problem database: there is none yet" in found.stdout
        assert list(tmp_path.iterdir()) == []

    def test_a_database_of_another_schema(self, cogni: "Cogni", data: Path) -> None:
        with sqlite3.connect(data / "cogni.db") as database:
            database.execute("UPDATE alembic_version SET version_num = '0001'")

        found = cogni("doctor", data=data)

        assert found.exit_code == 1
        assert "problem database: The database has the schema 0001" in found.stdout
        assert "cogni migrate" in found.stdout

    def test_a_company_that_was_not_read_yet(self, cogni: "Cogni", data: Path) -> None:
        with sqlite3.connect(data / "cogni.db") as database:
            database.execute("UPDATE corpora SET indexed_through = NULL WHERE tenant_id = 'acme'")

        found = cogni("doctor", data=data)

        assert found.exit_code == 1
        assert "problem corpus acme/intranet: not read to its end yet" in found.stdout
        assert "cogni run" in found.stdout

    def test_a_product_that_is_gone(self, cogni: "Cogni", data: Path) -> None:
        (data / "server.json").write_text('{"url": "http://127.0.0.1:9", "pid": 1}')

        found = cogni("doctor", data=data)

        assert found.exit_code == 1
        assert "problem server: http://127.0.0.1:9 (process 1) does not answer" in found.stdout
        assert "cogni run" in found.stdout

    def test_all_well(self, cogni: "Cogni", data: Path) -> None:
        found = cogni("doctor", data=data)

        assert found.exit_code == 0, found.stdout
        assert "problem" not in found.stdout
        for part in ("disk", "server", "bindings", "database", "language model", "embedder"):
            assert f"ok      {part}: " in found.stdout
        assert "KeywordSearchPort by TantivyKeywordSearchAdapter" in found.stdout

    def test_a_store_that_does_not_answer(self, cogni: "Cogni", data: Path) -> None:
        found = cogni("doctor", data=data, OPENSEARCH_URL="http://127.0.0.1:9")

        assert found.exit_code == 1
        assert "problem search: OpenSearchKeywordSearchAdapter does not answer" in found.stdout

    def test_which_model_answers_and_how_it_is_asked(self, cogni: "Cogni", data: Path) -> None:
        found = cogni("doctor", data=data, **PROVIDER, **MODEL)

        line = "language model: qwen3-8b-q4 by chat completions at OPENAI_BASE_URL, healthy"
        assert line in found.stdout
        assert "sk-secret" not in found.output


def test_help_names_every_command_of_the_contract(cogni: "Cogni", tmp_path: Path) -> None:
    program = shutil.which("cogni", path=str(Path(sys.executable).parent))
    assert program is not None

    shown = subprocess.run([program, "--help"], capture_output=True, text=True, check=True).stdout

    for command in ("run", "migrate", "ingest", "ask", "token", "doctor"):
        assert command in shown
