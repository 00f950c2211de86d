import unicodedata
from typing import Literal, TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogni_domain.knowledge.folding import canonical, fold

Form: TypeAlias = Literal["NFC", "NFD", "NFKC", "NFKD"]

texts = st.text(max_size=40)


@given(texts)
def test_a_second_pass_changes_nothing(text: str) -> None:
    once = canonical(text)

    assert canonical(once) == once


@given(texts)
def test_folding_twice_changes_nothing(text: str) -> None:
    once = fold(canonical(text))

    assert fold(once) == once


@given(texts, st.sampled_from(["NFC", "NFD", "NFKC", "NFKD"]))
def test_composition_and_width_make_no_difference(text: str, form: Form) -> None:
    assert canonical(unicodedata.normalize(form, text)) == canonical(text)


@given(texts)
def test_case_makes_no_difference(text: str) -> None:
    assert canonical(text.upper()) == canonical(text) == canonical(text.lower())


@pytest.mark.parametrize(
    ("written", "typed"),
    [
        ("crème brûlée", "creme brulee"),
        ("Łódź", "lodz"),
        ("Müller", "muller"),
        ("smørrebrød", "smorrebrod"),
        ("İstanbul ışık", "istanbul isik"),
        ("Ἀθῆναι", "αθηναι"),
        ("ёлка за́мок", "елка замок"),
        ("كِتَابٌ", "كتاب"),
        ("أسئلة", "اسئله"),
        ("שָׁלוֹם", "שלום"),
        ("ｱｲｳ", "アイウ"),
        ("pass\u00adport\u200b", "passport"),
        ("٤٤٧١", "4471"),
        ("๒๕๖๗", "2567"),
    ],
)
def test_what_people_leave_out_when_they_search_is_left_out(written: str, typed: str) -> None:
    assert fold(canonical(written)) == fold(canonical(typed))


@pytest.mark.parametrize("word", ["й", "ї", "हिन्दी", "ที่", "が", "கி"])
def test_marks_that_make_another_letter_stay(word: str) -> None:
    assert fold(canonical(word)) == unicodedata.normalize("NFC", word)
