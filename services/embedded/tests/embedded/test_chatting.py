"""A conversation on the terminal, over the contract alone."""

import json
from collections.abc import Sequence
from typing import Any

import httpx2
import pytest

from cogni_embedded.chatting import TerminalChat
from cogni_surfaces import TerminalSurface

PROPOSAL = {
    "id": "p1",
    "rendering": {"title": "Book leave", "steps": [{"title": "Days", "detail": "2"}]},
    "expires_at": "2026-12-01T10:00:00+00:00",
}


def outcome(proposal: object = None) -> dict[str, object]:
    citation = {"handle": "s1", "label": "Leave", "locator": "page 3", "document_id": "d1"}
    return {
        "run_ref": "r1",
        "conversation_id": "c1",
        "text": "Twenty weeks [s1].",
        "citations": [citation],
        "markers": [],
        "indexed_through": None,
        "proposal": proposal,
    }


class Product:
    """Answers as the contract says, and remembers what it was asked."""

    def __init__(self, proposal: object = None) -> None:
        self.proposal = proposal
        self.calls: list[tuple[str, object]] = []

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        body: Any = json.loads(request.content) if request.content else None
        self.calls.append((request.url.path, body))
        if request.url.path == "/v1/turns":
            if body["message"] == "fail":
                return httpx2.Response(422, json={"title": "Please write a question."})
            return httpx2.Response(200, text=self.events())
        return httpx2.Response(200, json={"state": "declined", "note": ""})

    def events(self) -> str:
        told = [
            ("run", {"run_ref": "r1", "conversation_id": "c1"}),
            ("citation", {"handle": "s1", "label": "Leave", "locator": "page 3"}),
            ("token", {"text": "Twenty weeks \x1b[31m[s1]."}),
            ("done", {"outcome": outcome(self.proposal)}),
        ]
        return "".join(
            f"id: {n}\nevent: {name}\ndata: {json.dumps(data)}\n\n"
            for n, (name, data) in enumerate(told, start=1)
        )


async def talk(product: Product, questions: Sequence[str], reply: str = "") -> str:
    waiting, shown = list(questions), []

    async def read() -> str | None:
        return waiting.pop(0) if waiting else None

    async def ask(question: str) -> str:
        shown.append(question)
        return reply

    transport = httpx2.MockTransport(product)
    async with httpx2.AsyncClient(transport=transport, base_url="http://edge") as client:
        await TerminalChat(client, TerminalSurface(ask=ask), shown.append).talk(read)
    return "".join(shown)


async def test_an_answer_is_shown_with_what_is_owed_and_the_conversation_goes_on() -> None:
    product = Product()

    shown = await talk(product, ["How much leave?", "  ", "And for twins?"])

    assert shown.count("Twenty weeks [31m[1].") == 2
    assert "[1] Leave, page 3" in shown
    assert "How fresh its sources are is not known." in shown
    assert "Generated answer." in shown
    assert product.calls == [
        ("/v1/turns", {"message": "How much leave?", "surface_id": "terminal"}),
        (
            "/v1/turns",
            {"message": "And for twins?", "surface_id": "terminal", "conversation_id": "c1"},
        ),
        ("/v1/conversations/c1/end", None),
    ]


@pytest.mark.parametrize(("reply", "verb"), [("yes", "accept"), ("", "decline"), ("y", "decline")])
async def test_a_change_needs_the_word_yes(reply: str, verb: str) -> None:
    product = Product(PROPOSAL)

    shown = await talk(product, ["Book leave."], reply)

    assert "Book leave\n  Days: 2\nUntil 2026-12-01" in shown
    assert ("/v1/proposals/p1/" + verb, None) in product.calls


async def test_a_refused_question_is_told_and_ends_nothing() -> None:
    product = Product()

    shown = await talk(product, ["fail", "How much leave?"])

    assert "Please write a question.\n" in shown
    assert "Twenty weeks" in shown
