import pytest

from cogni_engine import MarkerDelta, PhaseDelta, TokenDelta
from cogni_surfaces import Confirmation, Language, TerminalSurface

PROPOSAL = {
    "rendering": {
        "title": "Book a room",
        "steps": [
            {"title": "Room", "detail": "Atrium"},
            {"title": "From", "detail": "9\n\x1b[31mfake line"},
        ],
    },
    "expires_at": "2026-12-01T10:00:00+00:00",
}


def answering(reply: str, asked: list[str]) -> TerminalSurface:
    async def ask(question: str) -> str:
        asked.append(question)
        return reply

    return TerminalSurface(ask=ask)


@pytest.mark.parametrize("reply", ["yes", "YES ", "ja"])
async def test_a_clear_yes_accepts(reply: str) -> None:
    assert await answering(reply, []).confirm(PROPOSAL) is Confirmation.ACCEPTED


@pytest.mark.parametrize("reply", ["", "y", "no", "yes please do not", "\n"])
async def test_anything_else_declines(reply: str) -> None:
    assert await answering(reply, []).confirm(PROPOSAL) is Confirmation.DECLINED


async def test_every_step_and_the_end_are_shown_before_the_question() -> None:
    asked: list[str] = []
    await answering("", asked).confirm(PROPOSAL)

    assert asked[0].splitlines() == [
        "Book a room",
        "  Room: Atrium",
        "  From: 9 [31mfake line",
        "Until 2026-12-01T10:00:00+00:00.",
        "Type yes to accept, anything else to decline: ",
    ]


def test_text_and_phases_are_streamed_without_tricks_and_the_rest_is_declined() -> None:
    surface = TerminalSurface(Language.DE)

    assert surface.stream(TokenDelta("a\x1b[2Jb")) == "a[2Jb"
    assert surface.stream(PhaseDelta("retrieving", "Searching")) == "Suche läuft…\n"
    assert surface.stream(MarkerDelta("[[TABLE:b1]]", "TABLE", {})) is None


def test_an_answer_without_text_says_why() -> None:
    shown = TerminalSurface().render({"text": "", "message": "Nothing found.", "citations": []})

    assert shown.splitlines() == [
        "",
        "Nothing found.",
        "This answer names no source.",
        "How fresh its sources are is not known.",
        "Generated answer. Check it against its sources.",
    ]
