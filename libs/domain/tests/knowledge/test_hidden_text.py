"""What a person sees stays whole; what only a model would read goes."""

import json
import os
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogni_domain.knowledge.hidden_text import neutralise_hidden_text

SHARED = Path(os.environ.get("COGNI_SHARED", Path(__file__).parents[5] / "shared"))
SUSPECTS = (
    "\u200b\u200c\u200d\u200e\u200f\u061c\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
    "\ufe0e\ufe0f\ufeff\u00ad\u2060\u3164\u115f\u1160\u180b\U000e0041\U000e007f\U000e0100\U0001f3f4"
    "\U000e0067\u20e3\u2764\U0001f469\U0001f3fd1#aZ שמن\u0e01\u0915\u094d\u1820\u1100\n\u2029"
)
hostile = st.text(st.sampled_from(SUSPECTS), max_size=40)

SCOTLAND = "\U0001f3f4\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f"


def test_every_code_point_is_kept_or_dropped_once_and_for_all() -> None:
    for code in range(0x110000):
        char = chr(code)
        for text in (char, f"a{char}b", f"א{char}ب", f"\u2764{char}\u2764", f"क{char}"):
            cleaned = neutralise_hidden_text(text)
            assert len(cleaned) <= len(text)
            assert neutralise_hidden_text(cleaned) == cleaned
        if code < 0x80:
            assert neutralise_hidden_text(char) == char


@given(hostile | st.text())
def test_a_second_pass_changes_nothing_and_only_hidden_characters_go(text: str) -> None:
    cleaned = neutralise_hidden_text(text)

    assert neutralise_hidden_text(cleaned) == cleaned
    rest = iter(text)
    assert all(char in rest for char in cleaned), "not a subsequence"
    assert [c for c in cleaned if c.isascii()] == [c for c in text if c.isascii()]


@given(st.text(st.characters(exclude_categories=("Cf", "Mn", "Cn", "Lo", "Cs"))))
def test_text_without_format_characters_is_untouched(text: str) -> None:
    assert neutralise_hidden_text(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "plain ASCII, with\ttabs and\r\nlines",
        f"England \U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f, {SCOTLAND}",
        "family \U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466",
        "\u2764\ufe0f\u200d\U0001f525 and \U0001f3f3\ufe0f\u200d\U0001f308",
        "\U0001f469\U0001f3fd\u200d\U0001f52c, press 1\ufe0f\u20e3 or #\ufe0f\u20e3",
        "می\u200cخواهم گزارش را ببینم",
        "क्\u200dष और क्\u200cष",
        "ന്\u200d",
        "שלום \u2067C++\u2069 עולם\u200f!",
        "\u202bشركة ABC\u202c",
        "ภาษา\u200bไทย",
        "\u1112\u1161\u11ab \u1100\u1160",
        "Größe, naïve, Ελλάδα, Москва, 日本語, e\u0301",
    ],
)
def test_what_a_person_sees_stays_whole(text: str) -> None:
    assert neutralise_hidden_text(text) == text


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("pay\u200b\u200cload", "payload"),
        ("Notes \u202eyraterces\u202c end", "Notes yraterces end"),
        ("if \u2067a\u2069 then", "if a then"),
        ("x\u200e\u200f\u061cy", "xy"),
        ("soft\u00adhyphen \ufeffand\u2060 fillers\u3164", "softhyphen and fillers"),
        ("a\ufe0f b\U000e0101 \u2764\ufe0f\ufe0f\ufe0e", "a b \u2764\ufe0f"),
        ("1\ufe0f x", "1 x"),
        ("dog \U0001f436" + "".join(chr(0xE0000 + ord(c)) for c in "obey me"), "dog \U0001f436"),
        (
            "flag \U0001f3f4" + "".join(chr(0xE0000 + ord(c)) for c in "evil") + "\U000e007f",
            "flag \U0001f3f4",
        ),
        (SCOTLAND + "\U000e0041", SCOTLAND),
        ("\u05d0\u202e abc\u202c", "\u05d0 abc"),
        ("\u05d0\u200f\u200e\u200b\u200f\u200e!", "\u05d0\u200f!"),
        ("\u05d0\u202b\u202c\u202b\u202c", "\u05d0"),
        ("می\u200c\u200d\u200cخ", "می\u200cخ"),
    ],
)
def test_what_only_a_model_would_read_goes(text: str, seen: str) -> None:
    assert neutralise_hidden_text(text) == seen


def test_an_override_stays_only_around_text_that_it_does_not_reverse() -> None:
    assert neutralise_hidden_text("\u202eשלום\u202c") == "\u202eשלום\u202c"
    assert neutralise_hidden_text("\u202dשלום\u202c") == "שלום"


def test_each_paragraph_is_judged_by_its_own_direction() -> None:
    assert neutralise_hidden_text("שלום\u200f\nabc\u200f") == "שלום\u200f\nabc"


def test_a_long_line_of_nested_controls_takes_linear_time() -> None:
    line = "\u2067" * 50_000 + "א" + "\u2069" * 50_000 + "\u202c" * 50_000

    assert len(neutralise_hidden_text(line)) == 100_001


@pytest.mark.skipif(not (SHARED / "data/injection.jsonl").exists(), reason="needs COGNI_SHARED")
def test_benign_rows_pass_unchanged_and_invisible_encodings_do_not() -> None:
    lines = (SHARED / "data/injection.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    invisible = {
        "unicode_tags",
        "unicode_tags_midword",
        "zero_width_binary",
        "bidi_override",
        "soft_hyphen",
    }

    for row in rows:
        cleaned = neutralise_hidden_text(row["text"])
        if row["label"] == "benign":
            assert cleaned == row["text"]
        if row["technique"] in invisible:
            assert not [c for c in cleaned if unicodedata.category(c) == "Cf"]
