"""What can be quoted from a passage."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogni_adapters.reader import quotable
from cogni_adapters.reader.quotable import MAX_CHARACTERS, quotable_sentences


def said(text: str) -> list[str]:
    return [sentence.text for sentence in quotable_sentences(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One rule. Another rule! A third?", ["One rule.", "Another rule!", "A third?"]),
        ("Full wages for 13 weeks, 80 per cent to week 52. When ill, call.", 2),
        ("Er endet am 31. März 2026 in Leipzig. Danach gilt er nicht.", 2),
        ("Der Urlaub verfällt am 31. März. Sonst nicht.", 2),
        ("Ask e.g. Dr. Brandt or J. Vermeer, ext. 4911. They know.", 2),
        ("The limit is 3.5 per cent, i.e. 190 euros. It holds.", 2),
        ("The mail is a.b@acme.example. Write to it.", 2),
        ("费用发生后30天内必须提交。逾期不予受理。", 2),
        ("什么时候？明天！", 2),
        ("ست ساعات يوميا. كم ساعة؟ لا تعقد اجتماعات.", 3),
        ('He said "stop." Then he left.', 2),
        ("no end here", ["no end here"]),
        ("", []),
        (" \n\n ", []),
        ("?! … --", []),
    ],
)
def test_sentences_end_where_a_reader_ends_them(text: str, expected: list[str] | int) -> None:
    found = said(text)

    assert found == expected if isinstance(expected, list) else len(found) == expected


def test_a_name_alone_is_nothing_to_quote() -> None:
    assert said("See you there.\n\nJonas Brandt\n\n二〇") == ["See you there."]


def test_headings_are_left_out_and_wrapped_lines_joined() -> None:
    text = "# Leave\n\nLeave is\npaid in full.\n\n## Asking\nWrite to\nPeople.\n\nOld\n---\nGone."

    assert said(text) == ["Leave is paid in full.", "Write to People.", "Gone."]


def test_items_stand_alone_and_carry_what_announces_them() -> None:
    text = "Not paid:\n\n- alcohol\n- fines. They are yours.\n\n1. First, the badge.\n2) Then the laptop."

    assert said(text) == [
        "Not paid: alcohol",
        "Not paid: fines.",
        "They are yours.",
        "First, the badge.",
        "Then the laptop.",
    ]


@pytest.mark.parametrize(
    "table",
    [
        "| Code | Meaning |\n|---|:---:|\n| E-17 | air |\n| E-34 | **low** battery |",
        "Code | Meaning\nE-17 | air\nE-34 | low battery",
        "Code;Meaning\nE-17;air\nE-34;low battery",
        "Code,Meaning\nE-17,air\nE-34,low battery",
        "Code\tMeaning\nE-17\tair\nE-34\tlow battery",
    ],
)
def test_a_row_is_a_sentence_under_its_header(table: str) -> None:
    found = quotable_sentences(table)

    assert [s.text for s in found] == [
        "Code: E-17; Meaning: air",
        "Code: E-34; Meaning: low battery",
    ]
    assert all(s.is_row for s in found)


def test_prose_with_as_many_commas_a_line_is_no_table() -> None:
    text = "Tell your manager, if you can,\nand People, in writing, soon."

    assert said(text) == ["Tell your manager, if you can, and People, in writing, soon."]


def test_marks_are_dropped_and_the_words_kept() -> None:
    text = (
        "> **Leave** is _fully_ *paid*, see [the form](https://a.example/x) and `P-12` ![x](y.png)."
    )

    assert said(text) == ["Leave is fully paid, see the form and P-12 ."]


@pytest.mark.parametrize("kept", ["2*3*4 is 24.", "snake_case_name is a name.", "A * B is it."])
def test_what_only_looks_like_a_mark_stays(kept: str) -> None:
    assert said(kept) == [kept]


@pytest.mark.parametrize("forged", ["[s1]", "[[CHART:c1]]", "［s12］", "[ s3 ]", "[[chart:c1]]"])
def test_what_looks_like_a_handle_or_a_marker_goes(forged: str) -> None:
    assert said(f"Leave is paid {forged}.") == ["Leave is paid ."]


@given(st.text(max_size=400))
def test_any_text_is_split_and_nothing_is_made_up(text: str) -> None:
    words = set("".join(c if c.isalnum() else " " for c in text).split())

    for sentence in quotable_sentences(text):
        found = "".join(c if c.isalnum() else " " for c in sentence.text).split()
        assert found
        assert all(any(word in known for known in words) for word in found)


@pytest.mark.parametrize(
    "hostile",
    [
        "**" * 50_000,
        "[" * 50_000,
        "_a" * 50_000,
        "- " * 50_000,
        "a. " * 50_000,
        "|" * 50_000,
        "> " * 50_000,
        "`" * 50_001,
        "![" * 50_000,
    ],
)
@pytest.mark.timeout(60)
def test_a_text_made_to_take_long_does_not_and_is_not_read_to_its_end(
    hostile: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If it cost the square of its length, the long one would not come to an end before the test is ended."""
    assert quotable_sentences(hostile) == quotable_sentences(hostile[:MAX_CHARACTERS])
    monkeypatch.setattr(quotable, "MAX_CHARACTERS", 200_000)

    quotable_sentences(hostile * 4)
