from hypothesis import given
from hypothesis import strategies as st

from cogni_engine import Delta, DoneDelta, Emitter, Phase, PhaseDelta, TokenDelta
from cogni_kernel import HumanText


@given(st.lists(st.text(max_size=5), max_size=8))
def test_the_text_is_what_was_emitted_and_nothing_is_no_delta(pieces: list[str]) -> None:
    heard: list[Delta] = []
    emitter = Emitter(heard.append)

    for piece in pieces:
        emitter.emit_token(piece)

    assert emitter.text == "".join(pieces)
    assert heard == [TokenDelta(piece) for piece in pieces if piece]


def test_deltas_are_heard_in_order_and_are_no_text() -> None:
    heard: list[Delta] = []
    emitter = Emitter(heard.append)

    emitter.emit_phase(Phase.RETRIEVING, HumanText("Reading the handbook"))
    emitter.emit_token("Ten days.")
    emitter.emit(DoneDelta({"kind": "completed"}))

    assert heard == [
        PhaseDelta("retrieving", "Reading the handbook"),
        TokenDelta("Ten days."),
        DoneDelta({"kind": "completed"}),
    ]
    assert emitter.text == "Ten days."


def test_half_a_character_is_shown_as_something_that_can_be_sent() -> None:
    heard: list[Delta] = []
    emitter = Emitter(heard.append)

    emitter.emit_token("a\ud83d")

    assert heard == [TokenDelta("a\ufffd")]
    assert emitter.text == "a\ufffd"
