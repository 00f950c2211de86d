"""Hidden text is neutralised alike for every way of cutting the stream, and no later than it must be."""

from collections.abc import Iterable

from hypothesis import example, given, settings
from hypothesis import strategies as st

from cogni_application.turn.hidden_stream import HiddenTextStream
from cogni_domain.knowledge.hidden_text import neutralise_hidden_text

SUSPECTS = (
    "\u200b\u200c\u200d\u200e\u200f\u061c\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
    "\ufe0e\ufe0f\ufeff\u00ad\u2060\u3164\u115f\u1160\u180b\U000e0041\U000e007f\U000e0100\U0001f3f4"
    "\U000e0067\u20e3\u2764\U0001f469\U0001f3fd1#aZ שמן\u0e01\u0915\u094d\u1820\u1100\n\r\x1c\x85\u2029"
)
texts = st.text(st.sampled_from(SUSPECTS), max_size=40) | st.text(max_size=40)


def streamed(pieces: Iterable[str]) -> str:
    stream = HiddenTextStream()
    return "".join([*map(stream.feed, pieces), stream.finish()])


@settings(max_examples=300, deadline=None)
@given(texts)
@example("\u05d0\u202e abc\u202c\n\u200d\U0001f469")
@example("\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f.")
def test_every_cut_gives_what_the_whole_text_gives(text: str) -> None:
    whole = neutralise_hidden_text(text)

    assert streamed(text) == whole
    for at in range(len(text) + 1):
        assert streamed([text[:at], text[at:]]) == whole


def test_visible_text_is_released_at_once() -> None:
    stream = HiddenTextStream()

    assert [stream.feed(char) for char in "a日\U0001f469e\u0301 x"] == list(
        "a日\U0001f469e\u0301 x"
    )


def test_hidden_characters_wait_for_what_follows_and_a_bidi_control_for_its_line() -> None:
    stream = HiddenTextStream()

    assert [stream.feed(char) for char in "\U0001f469\u200d\U0001f52c"] == [
        "\U0001f469",
        "",
        "\u200d\U0001f52c",
    ]
    assert [stream.feed(part) for part in ("a\u202b", "שלום", "\u202c b", "\nc")] == [
        "",
        "",
        "",
        "a\u202bשלום\u202c b\nc",
    ]
