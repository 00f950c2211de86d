import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogni_kernel import HumanText, ModelFacingText, Text, encodable, estimate_tokens

anything = st.text(alphabet=st.characters(exclude_categories=()))
visible = st.sampled_from("aé€日本あกขरעس😀❤0-.?")
unseen = st.text(
    alphabet=st.sampled_from(
        " \t\n\r\x00\x1f\x7f\x85\xa0\xad\u034f\u061c\u115f\u1680\u180e\u2003\u200b\u200c\u200d\u200e"
        "\u202e\u2028\u2029\u2060\u2066\u2800\u3000\u3164\ufe0f\ufeff\uffa0\ud800\U000e0041\U000e0100"
    )
)


@given(unseen)
def test_white_space_and_invisible_characters_are_blank(text: str) -> None:
    assert HumanText(text).is_blank()
    assert ModelFacingText(text).is_blank()


@given(unseen, visible, unseen)
def test_one_visible_character_is_enough(before: str, shown: str, after: str) -> None:
    assert not HumanText(before + shown + after).is_blank()


@given(st.text())
def test_text_for_a_person_never_equals_text_for_a_model(value: str) -> None:
    person: object = HumanText(value)

    assert person != ModelFacingText(value)
    assert isinstance(person, Text)
    assert str(person) == value


def test_text_for_a_person_has_a_locale_and_text_for_a_model_has_none() -> None:
    assert HumanText("Hallo", "de") != HumanText("Hallo")
    assert HumanText("Hello").locale == "en"
    assert not hasattr(ModelFacingText("Hello"), "locale")


def test_texts_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        HumanText("a").value = "b"  # type: ignore[misc]


@given(anything, anything)
def test_an_estimate_never_falls_when_text_is_added(left: str, right: str) -> None:
    whole = estimate_tokens(left + right)

    assert max(estimate_tokens(left), estimate_tokens(right)) <= whole
    assert whole <= estimate_tokens(left) + estimate_tokens(right)


@given(anything)
def test_an_estimate_is_none_for_nothing_alone(text: str) -> None:
    assert (estimate_tokens(text) == 0) is (text == "")
    assert ModelFacingText(text).token_estimate() == estimate_tokens(text)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [("", 0), ("a", 1), ("abcd", 1), ("abcde", 2), ("日本語", 3), ("ภาษา", 4), ("ελληνικά", 2)],
)
def test_four_characters_are_a_token_except_in_scripts_without_spaces(
    text: str, tokens: int
) -> None:
    assert estimate_tokens(text) == tokens


@given(anything)
def test_encodable_text_fits_in_utf8_and_stays_so(text: str) -> None:
    kept = encodable(text)

    assert kept.encode().decode() == kept
    assert encodable(kept) == kept


@given(st.text())
def test_text_that_utf8_can_hold_is_left_alone(text: str) -> None:
    assert encodable(text) is text


def test_the_halves_of_a_character_are_joined_and_single_ones_replaced() -> None:
    assert encodable("\ud83d\ude00 \ude00 \ud83d") == "😀 \ufffd \ufffd"
