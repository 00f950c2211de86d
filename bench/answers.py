"""The demo company over HTTP: from an empty data folder to the first answer, and every answer after it."""

import json
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

import httpx2

from cogni_acme.questions import load_questions

FIRST_ANSWER_LIMIT_S = 60.0
ANSWER_LIMIT_MS = 1000.0
FIRST_DELTA_LIMIT_MS = 100.0
ROUNDS = 3
COGNI = str(Path(sys.executable).parent / "cogni")


@contextmanager
def product(data: str, port: int) -> Iterator[str]:
    """Yield the address of a product that was just started on an empty data folder."""
    subprocess.run([COGNI, "migrate", "--data", data], check=True, capture_output=True)
    command = [COGNI, "run", "--data", data, "--port", str(port)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def token(data: str, person: str) -> str:
    done = subprocess.run(
        [COGNI, "token", "--as", person, "--data", data], check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def wait_until_ready(client: httpx2.Client, deadline: float) -> None:
    while time.perf_counter() < deadline:
        try:
            if client.get("/readyz").status_code == 200:
                return
        except httpx2.HTTPError:
            pass
        time.sleep(0.05)
    raise TimeoutError("the product did not become ready")


def ask(
    client: httpx2.Client, bearer: str, question: str
) -> tuple[float, float, dict[str, object]]:
    """Return milliseconds to the first delta and to the last, and the outcome."""
    headers = {"Authorization": f"Bearer {bearer}", "Accept": "text/event-stream"}
    began = time.perf_counter()
    first = 0.0
    outcome: dict[str, object] = {}
    with client.stream(
        "POST", "/v1/turns", json={"message": question}, headers=headers
    ) as response:
        for line in response.iter_lines():
            if line.startswith("data: "):
                first = first or (time.perf_counter() - began) * 1000
                outcome = json.loads(line.removeprefix("data: ")).get("outcome", outcome)
    return first, (time.perf_counter() - began) * 1000, outcome


def run() -> Iterator[dict[str, object]]:
    questions = [q for q in load_questions() if q.person != "outsider"]
    with tempfile.TemporaryDirectory() as data:
        began = time.perf_counter()
        with (
            product(data, free_port()) as address,
            httpx2.Client(base_url=address, timeout=60) as client,
        ):
            wait_until_ready(client, began + 2 * FIRST_ANSWER_LIMIT_S)
            first = questions[0]
            tokens = {first.person: token(data, first.person)}
            ask(client, tokens[first.person], first.ask)
            start = time.perf_counter() - began
            for person in {q.person for q in questions} - tokens.keys():
                tokens[person] = token(data, person)
            asked = [ask(client, tokens[q.person], q.ask) for _ in range(ROUNDS) for q in questions]
    firsts, totals = [a[0] for a in asked], [a[1] for a in asked]
    yield {
        "start_to_first_answer_s": round(start, 1),
        "ratio_limit_start": round(start / FIRST_ANSWER_LIMIT_S, 3),
        "answers": len(asked),
        "first_delta_p50_ms": round(median(firsts), 1),
        "ratio_limit_first_delta": round(median(firsts) / FIRST_DELTA_LIMIT_MS, 3),
        "answer_p50_ms": round(median(totals), 1),
        "ratio_limit": round(median(totals) / ANSWER_LIMIT_MS, 3),
    }
