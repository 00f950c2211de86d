import doctest

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogni_embedded import terminal
from cogni_embedded.terminal import complain, plain, progress, say, say_on


@given(st.text())
def test_what_is_printed_can_only_be_seen(text: str) -> None:
    shown = plain(text)

    assert all(char in "\t\n" or not (ord(char) < 32 or 127 <= ord(char) < 160) for char in shown)
    shown.encode()


@pytest.mark.parametrize(
    "text", ["育儿假", "إجازة", "👩‍🔬", "[bold]x[/bold]", "tab\there", "two\nlines"]
)
def test_every_script_stays(text: str) -> None:
    assert plain(text) == text


def test_what_is_said_and_complained_of_goes_its_own_way(
    capsys: pytest.CaptureFixture[str],
) -> None:
    say("answer \x1b[31m[red]")
    say_on("piece\x07")
    complain("trouble \udcff")

    said = capsys.readouterr()
    assert said.out == "answer [31m[red]\npiece"
    assert said.err == "trouble \ufffd\n"


def test_without_a_terminal_progress_is_a_line_now_and_then(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(terminal, "EVERY_S", 0.0)
    with progress("Reading…") as show:
        show("1 document")
    monkeypatch.setattr(terminal, "EVERY_S", 60.0)
    with progress("Reading…") as show:
        show("2 documents")

    assert capsys.readouterr().err == "1 document\n"


def test_the_examples_in_the_docstrings_hold() -> None:
    assert doctest.testmod(terminal).failed == 0
