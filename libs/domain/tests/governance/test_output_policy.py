"""What an answer must not say."""

import re
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cogni_domain.governance.output_policy import (
    MAX_PHRASE,
    MAX_WORD,
    Allowed,
    Blocked,
    OutputCheck,
    OutputPolicy,
    Prohibition,
    Redaction,
)
from cogni_kernel import HumanText

PRICE = Prohibition(
    "price",
    HumanText("Ask sales for a price."),
    ("guaranteed price", "we promise a discount", "価格を保証"),
)
DIAGNOSIS = Prohibition("diagnosis", HumanText("Ask a doctor."), ("you have cancer",))
KEYS = Redaction(re.compile(r"sk-[a-z0-9]{8,}"), "[key]")
POLICY = OutputPolicy((PRICE, DIAGNOSIS), (KEYS,))

WORDS = "guaranteed Guaranteed price priceless we promise a discount sk-abcdefgh1 価格を保証 価格を 保証 **price** . , \u200b"
words = st.sampled_from([*WORDS.split(), "you have cancer", "x" * 150])
answers = st.lists(st.tuples(words, st.sampled_from(["", " ", "  ", "\n\n", "\u00a0"]))).map(
    lambda pairs: "".join(word + space for word, space in pairs)
)


def streamed(answer: str, cuts: list[int]) -> tuple[str, Prohibition | None]:
    check = OutputCheck(POLICY)
    edges = sorted({0, len(answer), *(cut % (len(answer) + 1) for cut in cuts)})
    pieces = [answer[a:b] for a, b in pairwise(edges)]
    return "".join([*map(check.feed, pieces), check.finish()]), check.blocked


@given(answers, st.lists(st.integers(0, 2_000)))
def test_the_result_is_the_same_for_every_way_of_cutting(answer: str, cuts: list[int]) -> None:
    assert streamed(answer, cuts) == streamed(answer, [])
    assert streamed(answer, cuts) == streamed(answer, list(range(len(answer))))


@given(answers)
def test_the_verdict_on_the_whole_is_that_of_its_stream(answer: str) -> None:
    shown, blocked = streamed(answer, [])

    assert POLICY.evaluate(answer) == (Allowed(shown) if blocked is None else Blocked(blocked))


@example("you have cancersk-abcdefgh")
@given(answers)
def test_what_is_shown_of_any_answer_is_allowed(answer: str) -> None:
    shown, _ = streamed(answer, [])

    assert POLICY.evaluate(shown) == Allowed(shown)


@given(st.text())
def test_without_a_rule_every_answer_passes_as_it_is(answer: str) -> None:
    assert OutputPolicy().evaluate(answer) == Allowed(answer)


@given(st.text(alphabet="abc \n-", max_size=300))
def test_an_answer_that_breaks_no_rule_passes_as_it_is(answer: str) -> None:
    assert POLICY.evaluate(answer) == Allowed(answer)


@pytest.mark.parametrize(
    "answer",
    [
        "That is a guaranteed price.",
        "GUARANTEED\n\n  Price!",
        "a **guaranteed** _price_",
        "a guaran\u200bteed price",
        "\uff47\uff55\uff41\uff52\uff41\uff4e\uff54\uff45\uff45\uff44 price",
        "この価格を保証します",
        "x" * MAX_WORD * 2 + " guaranteed price",
        "guaranteed price",
    ],
)
def test_a_prohibited_phrase_is_seen_however_it_is_written(answer: str) -> None:
    assert POLICY.evaluate(answer) == Blocked(PRICE)


@pytest.mark.parametrize("answer", ["a guaranteed priceless view", "unguaranteed price", "price"])
def test_a_word_that_only_contains_it_is_something_else(answer: str) -> None:
    assert POLICY.evaluate(answer) == Allowed(answer)


def test_nothing_is_shown_from_the_word_on_that_completes_a_phrase() -> None:
    shown, blocked = streamed("It is good. You have cancer, and more", [])

    assert (shown, blocked) == ("It is good. You have ", DIAGNOSIS)


def test_a_word_is_shown_once_it_is_whole() -> None:
    check = OutputCheck(POLICY)

    assert [check.feed("It is sk-abc"), check.feed("defgh1 "), check.finish()] == [
        "It is ",
        "[key] ",
        "",
    ]


def test_the_first_prohibition_counts_when_two_apply_at_once() -> None:
    both = OutputPolicy((DIAGNOSIS, Prohibition("other", HumanText("No."), ("cancer",))))

    assert both.evaluate("you have cancer") == Blocked(DIAGNOSIS)


@pytest.mark.parametrize("phrases", [(), ("",), (" \u200b",), ("**",), ("x" * (MAX_PHRASE + 1),)])
def test_a_prohibition_that_sees_nothing_is_refused(phrases: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match="name phrases"):
        Prohibition("p", HumanText("No."), phrases)


@pytest.mark.parametrize(("pattern", "replacement"), [("x*", "y"), ("key", "[key]")])
def test_a_redaction_that_takes_what_it_leaves_is_refused(pattern: str, replacement: str) -> None:
    with pytest.raises(ValueError, match="takes what it leaves"):
        Redaction(re.compile(pattern), replacement)
