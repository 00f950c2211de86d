import pytest

from cogni_engine import CitationDelta, MarkerDelta, PhaseDelta, RunDelta, TokenDelta
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


def test_sources_are_numbered_from_one_in_each_answer_while_it_streams_and_after() -> None:
    surface = TerminalSurface()
    deltas = (
        RunDelta("r1", "c1"),
        *(CitationDelta("s8", "Leave", "lines 3-5"), TokenDelta("Twenty weeks [s8]. ")),
        *(CitationDelta("s3", "Travel", ""), TokenDelta("And trains [s3] [s8] [s9].")),
        RunDelta("r2", "c1"),
        *(CitationDelta("s12", "Leave", ""), TokenDelta("Yes [s12].")),
    )
    cited = [
        {"handle": "s8", "label": "Leave", "locator": "lines 3-5"},
        {"handle": "s3", "label": "Travel", "locator": ""},
    ]

    streamed = "".join(surface.stream(delta) or "" for delta in deltas)
    shown = surface.render({"text": "Both [s3] [s8] [s9].", "citations": cited})

    assert streamed == "Twenty weeks [1]. And trains [2] [1] .Yes [1]."
    assert shown.splitlines()[:3] == ["Both [2] [1] .", "[1] Leave, lines 3-5", "[2] Travel"]


def test_a_place_is_said_in_the_persons_language() -> None:
    cited = [{"handle": "s8", "label": "Leave", "locator": "More › lines 3-5"}]

    assert "[1] Leave, More › Zeilen 3-5" in TerminalSurface(Language.DE).render_provenance(cited)
