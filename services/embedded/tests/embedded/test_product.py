"""The demo company, asked over HTTP and from the command line, beside one running product."""

import json
import re
import sqlite3
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.embedded.conftest import Cogni, Running

    Token = Callable[[str], str]

pytestmark = pytest.mark.xdist_group("product")

LEAVE = "How much parental leave do I get?"
SAYS = {
    "hr-lead": "28 weeks",
    "engineer": "20 weeks",
    "contractor": "from your agency",
    "outsider": "nine weeks",
}
OUTCOME = [
    *("run_ref", "conversation_id", "kind", "text", "citations", "markers", "proposal", "reason"),
    *("message", "usage", "indexed_through", "html", "generated_label"),
]
SHOWN = ("kind", "text", "citations", "markers", "reason", "message", "generated_label")


def ask(product: "Running", token: str, message: str = LEAVE, **body: object) -> dict[str, Any]:
    with product.client(token) as client:
        answer = client.post("/v1/turns", json={"message": message, **body})
    assert answer.status_code == 200, answer.text
    outcome: dict[str, Any] = answer.json()
    return outcome


def asked_over_http(product: "Running") -> float:
    with product.client() as client:
        metrics = client.get("/metrics").text
    found = re.search(r'requests_total\{route="/v1/turns",status="200"\} ([0-9.]+)', metrics)
    return float(found[1]) if found else 0


def shown(outcome: dict[str, Any]) -> list[object]:
    """Return what a person sees; how far the sources were read may move between two answers."""
    html = re.sub(r"<time.*?</time>", "", outcome["html"])
    return [html, *(outcome[name] for name in SHOWN)]


@pytest.mark.parametrize("person", SAYS)
def test_each_person_gets_a_permitted_answer_by_both_ways(
    product: "Running", token_of: "Token", cogni: "Cogni", person: str
) -> None:
    by_http = ask(product, token_of(person))
    before = asked_over_http(product)
    by_command = cogni("ask", LEAVE, "--as", person, "--json", data=product.data)

    assert by_command.exit_code == 0
    outcome = json.loads(by_command.stdout)
    assert asked_over_http(product) == before + 1
    assert SAYS[person] in outcome["text"]
    assert shown(outcome) == shown(by_http)
    assert list(outcome) == list(by_http) == OUTCOME


def test_no_answer_holds_what_another_may_read_alone(product: "Running", token_of: "Token") -> None:
    answers = {person: json.dumps(ask(product, token_of(person))) for person in SAYS}

    assert "28 weeks" not in answers["engineer"] + answers["contractor"] + answers["outsider"]
    assert "20 weeks" not in answers["contractor"] + answers["outsider"]


@pytest.mark.parametrize("person", ["hr-lead", "engineer", "contractor"])
def test_sources_open_for_who_was_answered_and_for_nobody_else(
    product: "Running", token_of: "Token", person: str
) -> None:
    outcome = ask(product, token_of(person))
    paths = [f"/v1/runs/{outcome['run_ref']}/citations/{c['handle']}" for c in outcome["citations"]]
    assert paths

    for path in paths:
        with product.client(token_of(person)) as client:
            opened = client.get(path)
        assert opened.status_code == 200
        assert opened.json()["text"]
        refused = []
        for other in {"support", "outsider"} - {person}:
            with product.client(token_of(other)) as client:
                refused.append(client.get(path))
        assert {answer.status_code for answer in refused} == {404}
        assert len({answer.content for answer in refused}) == 1


@pytest.mark.parametrize(
    ("question", "person", "says"),
    [
        ("كم عدد ساعات العمل في شهر رمضان؟", "finance-lead", "ست ساعات"),
        ("费用发生后多少天内必须提交报销申请？", "contractor", "30天内"),
    ],
)
def test_a_question_in_another_script_is_answered_in_it(
    product: "Running", token_of: "Token", question: str, person: str, says: str
) -> None:
    outcome = ask(product, token_of(person), question)

    assert outcome["kind"] == "completed"
    assert says in outcome["text"]


def test_a_stream_from_the_real_product_is_as_the_contract_says(
    product: "Running", token_of: "Token"
) -> None:
    with product.client(token_of("engineer"), Accept="text/event-stream") as client:
        text = client.post("/v1/turns", json={"message": LEAVE}).text
        run = json.loads(re.findall(r"^data: (.*)$", text, re.MULTILINE)[0])["run_ref"]
        resumed = client.get(f"/v1/runs/{run}/events", headers={"Last-Event-ID": "2"}).text

    ids = [int(found) for found in re.findall(r"^id: (\d+)$", text, re.MULTILINE)]
    names = re.findall(r"^event: (\w+)$", text, re.MULTILINE)
    assert ids == list(range(1, len(ids) + 1))
    assert (names[0], names[-1], names.count("done")) == ("run", "done", 1)
    assert text.endswith(resumed)
    assert re.findall(r"^id: (\d+)$", resumed, re.MULTILINE)[0] == "3"


def test_a_change_is_made_once_it_is_accepted(product: "Running", token_of: "Token") -> None:
    asked = "Please book annual leave for me from 2027-02-01 to 2027-02-02."
    proposal = ask(product, token_of("engineer"), asked)["proposal"]
    path = f"/v1/proposals/{proposal['id']}/accept"

    with product.client(token_of("hr-lead")) as client:
        refused = client.post(path)
    with product.client(token_of("engineer")) as client:
        accepted = client.post(path, headers={"Idempotency-Key": "once"})
        again = client.post(path, headers={"Idempotency-Key": "once"})

    assert (refused.status_code, accepted.status_code, again.status_code) == (404, 200, 200)
    assert accepted.json()["state"] == "executed"
    assert again.json() == accepted.json()


def test_what_was_asked_is_in_the_persons_conversations(
    product: "Running", token_of: "Token"
) -> None:
    outcome = ask(product, token_of("new-hire"), "How long is the probation period?")

    with product.client(token_of("new-hire")) as client:
        listed = client.get("/v1/conversations").json()["conversations"]
    with product.client(token_of("outsider")) as client:
        foreign = client.get(f"/v1/conversations/{outcome['conversation_id']}")

    assert listed[0]["id"] == outcome["conversation_id"]
    assert foreign.status_code == 404


def test_without_json_the_answer_is_printed_with_its_sources_and_label(
    product: "Running", cogni: "Cogni"
) -> None:
    asked = cogni("ask", LEAVE, "--as", "engineer", data=product.data)

    assert asked.exit_code == 0
    assert "20 weeks" in asked.stdout
    assert re.search(r"^\[s\d+\] Parental leave, ", asked.stdout, re.MULTILINE)
    assert asked.stdout.rstrip().endswith("Generated answer. Check it against its sources.")


def test_what_is_refused_says_why_once(product: "Running", cogni: "Cogni") -> None:
    asked = cogni(
        "ask", "What is the boiling point of tungsten?", "--as", "engineer", data=product.data
    )

    assert asked.exit_code == 0
    assert asked.stdout.count("I found nothing about this") == 1


@pytest.mark.parametrize("question", ["", "  \n", "\u200b", "x" * 40_000])
def test_a_question_that_is_none_is_refused_beside_the_product_too(
    product: "Running", cogni: "Cogni", question: str
) -> None:
    asked = cogni("ask", question, "--as", "engineer", data=product.data)

    assert asked.exit_code == 1
    assert asked.stdout.strip() == ""
    assert "Please write a question." in asked.stderr or "too long" in asked.stderr


def test_the_product_says_that_it_runs_and_is_ready(product: "Running") -> None:
    with product.client() as client:
        assert client.get("/healthz").json() == {"status": "ok"}
        assert client.get("/readyz").json() == {"status": "ready"}
        assert client.get("/openapi.json").json()["openapi"] == "3.1.0"
    assert f"COGNI.BUILD answers at {product.url}" in product.said
    assert "Ready. " in product.said


def test_a_second_product_on_the_folder_is_refused(product: "Running", cogni: "Cogni") -> None:
    for command in (["run"], ["migrate"]):
        refused = cogni(*command, data=product.data)
        assert refused.exit_code == 1
        assert f"is in use by process {product.process.pid} at {product.url}" in refused.stderr  # type: ignore[union-attr]
        assert "--data" in refused.stderr


def test_a_port_in_use_is_refused(product: "Running", cogni: "Cogni", tmp_path: Any) -> None:
    refused = cogni("run", "--port", product.port, data=tmp_path / "other")

    assert refused.exit_code == 1
    assert f"Port {product.port} on 127.0.0.1 is in use" in refused.stderr


def test_a_folder_is_read_by_the_running_product(
    product: "Running", token_of: "Token", cogni: "Cogni", tmp_path: Any
) -> None:
    (tmp_path / "menu.md").write_text(
        "# Canteen\n\nOn Friday the canteen serves plaice with capers."
    )
    (tmp_path / "broken.pdf").write_bytes(b"%PDF-1.7 nothing follows")

    read = cogni(
        "ingest", tmp_path, "--corpus", "Canteen", "--readers", "g:engineering", data=product.data
    )

    assert read.exit_code == 0, read.output
    assert "Canteen is read and indexed; 1 on the gap list." in read.stdout
    assert "Not indexed: broken.pdf" in read.stdout
    asked = "What does the canteen serve on Friday?"
    assert "plaice" in ask(product, token_of("engineer"), asked)["text"]
    assert "plaice" not in ask(product, token_of("contractor"), asked)["text"]


def test_the_doctor_finds_the_running_product_well(product: "Running", cogni: "Cogni") -> None:
    found = cogni("doctor", data=product.data)

    assert found.exit_code == 0, found.stdout
    assert f"server: {product.url} answers 200" in found.stdout
    assert "corpus acme/intranet: read up to" in found.stdout
    assert "Not indexed: store-plan-2009.txt" in found.stdout


def test_nothing_prints_a_secret(product: "Running", cogni: "Cogni", token_of: "Token") -> None:
    with sqlite3.connect(f"file:{product.data / 'cogni.db'}?mode=ro", uri=True) as database:
        keys = [str(row[0]) for row in database.execute("SELECT key FROM issuers")]
    printed = [product.said, cogni("doctor", data=product.data).output]
    printed.append(cogni("ask", LEAVE, "--as", "engineer", "--json", data=product.data).output)
    with product.client() as client:
        printed += [client.get(path).text for path in ("/metrics", "/openapi.json", "/readyz")]

    assert len(keys) == 2
    assert not [key for key in keys if any(key in text for text in printed)]
    assert not [text for text in printed if token_of("engineer") in text]
