"""Events leave a running product, to where two of its people decided; nothing that was said leaves with them."""

import asyncio
import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx2
import pytest
from standardwebhooks import Webhook
from typer.testing import CliRunner

from cogni_domain.subscriptions import EVENT_TYPES
from cogni_embedded.cli import app
from tests.servers.endpoints import Answer, endpoints

if TYPE_CHECKING:
    from tests.embedded.conftest import Running

pytestmark = pytest.mark.xdist_group("product")

CANARY = "Qv7canaryZk2"
QUESTION = f"How much parental leave do I get, {CANARY}?"
TO_LOOPBACK = """
import os, sys
os.environ["COGNI_EVENTS_TO_LOOPBACK"] = "1"
sys.argv.insert(1, "run")
from cogni_embedded.cli import main
main()
"""
ALL = "/v1/event-subscriptions"


def token(data: Path, person: str) -> str:
    words = ["token", "--as", person, "--data", str(data)]
    return CliRunner().invoke(app, words).stdout.strip()


async def call(product: "Running", person: str, method: str, path: str, **more: Any) -> Any:
    signed = await asyncio.to_thread(token, product.data, person)
    headers = {"Authorization": f"Bearer {signed}"}
    async with httpx2.AsyncClient(base_url=product.url, timeout=90, trust_env=False) as client:
        answer = await client.request(method, path, headers=headers, **more)
    assert answer.status_code < 300, answer.text
    return answer.json()


async def test_what_happened_leaves_and_what_was_said_does_not(
    data: Path, start: "Callable[..., Running]"
) -> None:
    product = start(data, program=("-c", TO_LOOPBACK)).until_ready()
    async with endpoints() as outside:
        body = {"url": outside.answering(Answer()), "types": sorted(EVENT_TYPES)}
        asked = await call(product, "administrator", "POST", ALL, json=body)
        await call(product, "finance-lead", "POST", f"{ALL}/{asked['id']}/confirm")

        outcome = await call(product, "engineer", "POST", "/v1/turns", json={"message": QUESTION})
        wrong = {"verdict": "down", "comment": f"{CANARY} is wrong"}
        run = outcome["run_ref"]
        await call(product, "engineer", "POST", f"/v1/runs/{run}/feedback", json=wrong)
        listed = await call(product, "engineer", "GET", "/v1/conversations")
        async with asyncio.timeout(30):
            while len(outside.received) < 2:
                await asyncio.sleep(0.05)

    assert CANARY in listed["conversations"][0]["title"]
    answered = [part.strip() for part in outcome["text"].split(".") if len(part.strip()) > 12]
    assert answered
    for request in outside.received:
        event = Webhook(asked["secret"]).verify(request.body, dict(request.headers))
        assert event["type"].startswith("cogni.api.events.v1.")
    sent = "".join(request.body.decode() for request in outside.received)
    stored = "".join(_stored(data))
    for said in (CANARY, *answered, "parental leave"):
        assert said not in sent
        assert said not in stored
    kinds = {json.loads(r.body)["type"].rpartition(".")[2] for r in outside.received}
    assert kinds == {"ConversationStarted", "CorrectionSubmitted"}


def _stored(data: Path) -> list[str]:
    """Return what the outbox and the deliveries hold."""
    with sqlite3.connect(data / "cogni.db") as connection:
        rows = connection.execute("SELECT payload FROM outbox").fetchall()
        rows += connection.execute("SELECT body FROM event_deliveries").fetchall()
    connection.close()
    return [row[0] for row in rows]
