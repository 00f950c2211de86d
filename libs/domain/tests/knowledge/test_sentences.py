import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogni_domain.knowledge.sentences import sentence_spans, sentences

PIECES = st.sampled_from(
    [
        "Leave",
        "is",
        "20",
        "Dr",
        "e.g",
        "z. B",
        "年假",
        "अवकाश",
        "إجازة",
        '"',
        ")",
        " ",
        "\n",
        "\n\n",
    ]
) | st.sampled_from([".", "!", "?", "…", "。", "؟", "।", "- ", "1. ", " | "])
texts = st.lists(PIECES, max_size=30).map("".join) | st.text(max_size=60)


@given(texts)
def test_nothing_but_white_space_is_lost(text: str) -> None:
    assert "".join("".join(sentences(text)).split()) == "".join(text.split())


@given(texts)
def test_sentences_are_trimmed_and_never_blank(text: str) -> None:
    assert all(sentence and sentence == sentence.strip() for sentence in sentences(text))


@given(texts)
def test_spans_come_in_order_and_never_overlap(text: str) -> None:
    places = [place for span in sentence_spans(text) for place in span]

    assert places == sorted(places)
    assert sentences(text) == tuple(text[start:end] for start, end in sentence_spans(text))


@pytest.mark.parametrize(
    "parts",
    [
        ["Leave is 20 days.", "More is unpaid."],
        ["Is it?", "It is!", "Well…", "Perhaps."],
        ['She said "no."', "He left."],
        ["(See below.)", "Then go on."],
        ["Ask Dr. Vermeer or J. R. Smith.", "They know."],
        ["Snacks, e.g. fruit, are free.", "So is tea."],
        ["Es gilt z. B. für Mio. Kunden.", "Danach nicht."],
        ["Ab dem 3. Mai gilt Nr. 4.", "Vorher nicht."],
        ["See fig. 3 and no. 7 there.", "The answer is no.", "Read on."],
        ["Version 2.5 costs 3.5.", "Version 3 is free."],
        ["It ended in 2020.", "Then came 2021."],
        ["So do I.", "Good."],
        ["He works for Yahoo! and likes it.", "She does not."],
        ["正式员工有年假。", "试用期没有！", "为什么？", "规定如此。"],
        ["病気休暇は十日です。", "「はい。」", "以上。"],
        ["هل لدي إجازة؟", "نعم لديك.", "شكرا."],
        ["अवकाश बीस दिन है।", "शेष अवैतनिक है।"],
        ["Եվ վերջ։", "Նոր սկիզբ։"],
    ],
)
def test_sentences_of_many_languages(parts: list[str]) -> None:
    joint = "" if any(mark in "".join(parts) for mark in "。！？") else " "

    assert list(sentences(joint.join(parts))) == parts


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("One wrapped\nsentence here. Two", ["One wrapped\nsentence here.", "Two"]),
        ("No stop\n\nNext paragraph", ["No stop", "Next paragraph"]),
        (
            "You need:\n- a form\n  signed twice\n- a photo",
            ["You need:", "- a form\n  signed twice", "- a photo"],
        ),
        ("1. Sign. Send it.\n2. Wait.", ["1. Sign.", "Send it.", "2. Wait."]),
        ("a) first\nb) second", ["a) first", "b) second"]),
        ("Name | Days\nAnna | 20\nThat is all.", ["Name | Days", "Anna | 20", "That is all."]),
        ("", []),
        (" \n ", []),
        ("...", ["..."]),
    ],
)
def test_lists_rows_and_paragraphs_stand_for_themselves(text: str, parts: list[str]) -> None:
    assert list(sentences(text)) == parts


@pytest.mark.parametrize(
    "text",
    [
        "." * 800_000,
        '."' * 400_000,
        "\n" * 800_000,
        "a. " * 250_000,
        "| " * 400_000,
        "1." * 400_000,
    ],
)
@pytest.mark.timeout(60)
def test_no_text_takes_long(text: str) -> None:
    """If it cost the square of its length, it would not come to an end before the test is ended."""
    assert "".join("".join(sentences(text)).split()) == "".join(text.split())
