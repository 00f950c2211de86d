import unicodedata
from typing import Literal, TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogni_domain.knowledge.analysis import LONGEST_TERM, analyse, analyse_question, is_blank

Form: TypeAlias = Literal["NFC", "NFD", "NFKC", "NFKD"]

texts = st.text(max_size=60)
WORDS = {
    "english": ["leave", "policies", "running", "approved", "employees"],
    "german": ["kündigungen", "häuser", "überstunden", "reisen", "genehmigte"],
    "french": ["congés", "remboursées", "employés", "journaux"],
    "spanish": ["vacaciones", "políticas", "aprobados"],
    "polish": ["urlopów", "zatwierdzone", "faktury"],
    "turkish": ["izinler", "faturaları"],
    "russian": ["отпуска", "сотрудников", "документы"],
    "greek": ["άδειες", "εργαζομένων"],
    "arabic": ["الموظفين", "إجازات"],
    "hindi": ["छुट्टियों", "कर्मचारियों"],
    "hebrew": ["עובדים", "חופשה"],
}
words = st.sampled_from([word for group in WORDS.values() for word in group])


@pytest.fixture(scope="module", autouse=True)
def _language_model_is_loaded() -> None:
    analyse("warm")


def meet(question: str, passage: str) -> bool:
    return bool(set(analyse_question(question)) & set(analyse(passage)))


@given(texts)
def test_terms_are_never_empty_and_hold_no_white_space(text: str) -> None:
    for term in (*analyse(text), *analyse_question(text)):
        assert term.split() == [term]


@given(texts)
def test_no_letter_and_no_digit_is_lost(text: str) -> None:
    visible = any(char.isalnum() for char in text) and not is_blank(text)

    assert bool(analyse(text)) >= visible
    assert bool(analyse_question(text)) == bool(analyse(text))


@given(texts)
def test_a_question_has_the_terms_of_the_same_passage(text: str) -> None:
    assert set(analyse_question(text)) == set(analyse(text))


@given(texts, st.sampled_from(["NFC", "NFD", "NFKC", "NFKD"]))
def test_case_width_and_composition_make_no_difference(text: str, form: Form) -> None:
    assert analyse(unicodedata.normalize(form, text).upper()) == analyse(text)


@given(words, st.lists(words, max_size=8), st.lists(words, max_size=2))
def test_a_word_meets_itself_whatever_stands_around_it(
    word: str, passage: list[str], question: list[str]
) -> None:
    assert meet(" ".join([*question, word]), " ".join([*passage, word]))
    assert set(analyse_question(word)) & set(analyse(" ".join([*passage, word])))


@given(st.lists(words, min_size=1, max_size=6))
def test_no_word_of_a_question_weighs_more_for_having_a_stem(some: list[str]) -> None:
    latin = [word for word in some if word < "\u0250"]

    assert len(analyse_question(" ".join(latin))) % max(1, len(latin)) == 0


@pytest.mark.parametrize(
    ("question", "passage"),
    [
        ("parental leave policy", "All policies on leaves of parents."),
        ("Kündigungen", "Die Kündigung ist vier Wochen vorher einzureichen."),
        ("Mueller Häuser", "Das Haus von Müller steht in Leipzig und hat viele Zimmer."),
        ("conge", "Les employés ont droit à cinq semaines de congés payés."),
        ("отпуск", "Сотрудники имеют право на отпуска каждый год."),
        ("病気", "病気休暇は年に十日です。"),
        ("報銷", "差旅報銷流程"),
        ("ลาป่วย", "พนักงานมีสิทธิลาป่วยได้สามสิบวัน"),
        ("휴가", "연차휴가는 15일입니다"),
        ("4471", "see REQ-4471"),
        ("req 4471", "REQ-4471"),
        ("req-4471", "REQ-4471 was approved"),
        ("2.3.1", "released as v2.3.1"),
        ("foo_bar", "call foo_bar.baz()"),
        ("email", "by e-mail only"),
        ("500 kg", "a load of 500kg"),
        ("1000", "1,000 people"),
        ("١٢٣", "room 123"),
        ("c++", "written in C++."),
    ],
)
def test_a_question_meets_its_passage(question: str, passage: str) -> None:
    assert meet(question, passage)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("REQ-4471", {"req-4471", "req", "4471"}),
        ("CVE-2024-1234", {"cve-2024-1234", "cve", "2024", "1234"}),
        ("foo_bar.baz", {"foo_bar.baz", "foo", "bar", "baz"}),
        ("v2.3.1", {"v2.3.1", "2.3.1", "v2", "2", "3", "1"}),
        ("john.doe@example.com", {"john.doe@example.com", "john", "doe", "example", "com"}),
        ("10.0.0.1", {"10.0.0.1", "10", "0", "1"}),
    ],
)
def test_an_identifier_is_kept_whole_and_in_parts(text: str, expected: set[str]) -> None:
    assert expected <= set(analyse(text))


def test_stop_words_are_kept() -> None:
    assert {"the", "who", "to", "be", "or", "not"} <= set(analyse("The Who: to be or not to be"))


def test_a_mixed_question_meets_both_of_its_parts() -> None:
    question = analyse_question("iPhone手机 warranty")

    assert set(question) & set(analyse("an iPhone is lent to new colleagues"))
    assert set(question) & set(analyse("手机保修两年"))
    assert set(question) & set(analyse("the warranty ends"))


def test_unrelated_chinese_texts_share_nothing() -> None:
    assert not meet("报销流程", "年假规定")


def test_terms_come_as_often_as_their_words() -> None:
    assert analyse("run run run").count("run") == 3


def test_endless_words_are_cut_and_endless_identifiers_are_found_by_their_parts() -> None:
    assert max(map(len, analyse("a" * 100_000))) == LONGEST_TERM
    assert "part7" in analyse("-".join(f"part{n}" for n in range(1000)))
    assert max(map(len, analyse("-".join(f"part{n}" for n in range(1000))))) <= LONGEST_TERM


@pytest.mark.parametrize(
    "hostile", ["-" * 50_000, "a-" * 50_000, "a.b" * 30_000, "\u0301" * 50_000]
)
def test_no_text_takes_long(hostile: str) -> None:
    analyse(hostile)


@pytest.mark.parametrize(
    "text",
    ["", " \n\t", "\u200b", "\ufeff \u2060", "\u3164", "\u2800", "\u202e", "\U000e0041", "\x00"],
)
def test_what_nobody_sees_is_blank(text: str) -> None:
    assert is_blank(text)
    assert analyse(text) == ()


@pytest.mark.parametrize("text", ["?", "a", "\u200ba", "病", "🙂", "٣"])
def test_what_somebody_sees_is_not_blank(text: str) -> None:
    assert not is_blank(text)


@given(texts)
def test_whatever_is_blank_has_no_terms(text: str) -> None:
    assert not (is_blank(text) and analyse(text))
