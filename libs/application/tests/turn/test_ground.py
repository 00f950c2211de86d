"""What reaches the glass: verified, the same for every way of cutting the stream, and plain text whole."""

import codecs
import html
import json
import os
import re
import unicodedata
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cogni_application.addresses import address_in, addresses_in, canonical_url
from cogni_application.turn import ground, hidden_stream
from cogni_application.turn.answer_tokens import (
    MAX_GROUP,
    MAX_TARGET,
    MAX_WORD,
    Token,
    next_token,
)
from cogni_application.turn.ground import AnswerGuard, Evidence
from cogni_application.turn.lookalikes import forged
from cogni_domain.knowledge.citations import Citation, CitationHandle, Unissued
from cogni_domain.knowledge.hidden_text import neutralise_hidden_text
from cogni_engine import Marker
from cogni_kernel import ChunkId, DocumentId

SHARED = Path(os.environ.get("COGNI_SHARED", Path(__file__).parents[4].parent / "shared"))
ISSUED = {f"s{n}" for n in (1, 2, 12)}
MARKERS = {"[[CHART:c1]]", "[[TABLE:b2]]"}
RETRIEVED = addresses_in(
    "https://handbook.example.com/policy and HTTPS://Wiki.example.com/a?page=1#top, www.acme.example/x "
    "见https://zh.example/文档。 http://plain.example"
)
HANDLE = re.compile(r"\[(s[1-9][0-9]{0,8})\]")
MARKER = re.compile(r"\[\[[A-Z]{1,16}:[a-z][1-9][0-9]{0,8}\]\]")

PIECES = (
    "https://handbook.example.com/policy?utm_source=x",
    "?utm_id=2&",
    *("[s1]", "[s2]", "[s12]", "[s9]", "[s1, s2]", "[s9;s2]", "[S1]", "[ s1 ]", "s1", "[s0]"),
    *(
        "[s\uff11]",
        "[\u0455" + "1]",
        "\uff3bs9\uff3d",
        "[s\u200b9]",
        "%5Bs9%5D",
        "&#91;s9&#93;",
        "&lsqb;s9]",
    ),
    *(
        "[s01]",
        "[s1e0]",
        "[s18446744073709551616]",
        "[s\u202e9]",
        "[s9\\]",
        "\\[s9\\]",
        "[**s9**]",
        "[s\u0661]",
    ),
    *(
        "[[CHART:c1]]",
        "[[TABLE:b2]]",
        "[[CHART:c9]]",
        "[[chart:c1]]",
        "[[\u0422ABLE:b2]]",
        "[[CHART:c%31]]",
    ),
    *(
        "[[[[CHART:c9]]]]",
        "[[CHART:c1",
        "[[Team:Finance]]",
        "[[Onboarding]]",
        "[[UNKNOWN:u1]]",
        "[\u200b[CHART:c9]]",
    ),
    *(
        "https://handbook.example.com/policy",
        "https://wiki.example.com/a?page=1#top",
        "www.acme.example/x",
    ),
    *(
        "https://evil.invalid/x?q=1",
        "www.evil.invalid",
        "//evil.invalid/p",
        "https:\\/\\/evil.invalid",
        "HTTP:evil.invalid",
    ),
    *(
        "https://handbook.example.com@evil.invalid/policy",
        "https://handbook.example.com/policy#SECRET",
        "ftp://evil.invalid",
    ),
    *(
        "https://zh.example/文档。",
        "https://zh.example/文档。泄露",
        "https&#58;//evil.invalid",
        "https://e\u0301vil.invalid",
    ),
    *(
        "[link](https://evil.invalid)",
        "[the policy](https://handbook.example.com/policy)",
        "![x](//evil.invalid/a.png)",
    ),
    *(
        "[x][ref]",
        "[ref]: https://evil.invalid/a",
        "<https://evil.invalid>",
        "[a](<https://evil.invalid> 'b')",
        "[p](page)",
    ),
    *(
        "[s1](https://evil.invalid)",
        "[s1](see the annex)",
        "[https://evil.invalid](https://plain.example)",
        "[x]()",
    ),
    *(
        "[",
        "[[",
        "]",
        "]]",
        "(",
        ")",
        "[[[",
        "\uff3d",
        "\\",
        "!",
        "&#91;",
        "%5d",
        "&#93;",
        "1]",
        "[s",
        "https:/",
        "/",
        ":",
    ),
    *(
        " ",
        "\n",
        "\r\n",
        "\u2029",
        "plain words",
        ", and",
        ".",
        "日本語の文章。",
        "שלום עולם",
        "\u202bשלום\u202c",
        "\u202e",
    ),
    *(
        "\U0001f469\u200d\U0001f52c",
        "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
        "می\u200cخواهم",
    ),
    *(
        "\u200b",
        "\u2060",
        "\U000e0041",
        "\ufe0f",
        "e\u0301",
        "\u0000",
        "array[0]",
        "f(x)[i]",
        "C:/Users",
        "a//b",
        "5 // 2",
    ),
)
hostile = st.lists(st.sampled_from(PIECES), max_size=14).map("".join)
anything = st.one_of(
    hostile, st.text(max_size=60), st.text("[]()s19:/CHART\u200b\uff3b&#;%5Bdw. \n", max_size=40)
)


def a_citation(handle: str) -> Citation:
    return Citation(
        CitationHandle(handle), "Leave", "page 3", DocumentId("d1"), ChunkId(f"d1:1:{handle}")
    )


def a_guard(urls: frozenset[str] = RETRIEVED) -> AnswerGuard:
    return AnswerGuard(
        Evidence(
            lambda handle: a_citation(handle) if handle in ISSUED else Unissued.UNISSUED,
            lambda marker: str(marker) in MARKERS,
            lambda: urls,
        )
    )


def run(pieces: Iterable[str], urls: frozenset[str] = RETRIEVED) -> tuple[str, AnswerGuard]:
    guard = a_guard(urls)
    released = "".join([*(guard.feed(piece) for piece in pieces), guard.finish()])
    assert guard.shown.text == released
    return released, guard


def outcome(pieces: Iterable[str]) -> tuple[object, ...]:
    released, guard = run(pieces)
    return released, guard.cited, guard.markers, guard.stripped


def decoded(chunks: Iterable[bytes]) -> list[str]:
    decoder = codecs.getincrementaldecoder("utf-8")()
    return [*(decoder.decode(chunk) for chunk in chunks), decoder.decode(b"", final=True)]


def assert_nothing_unverified(text: str) -> None:
    assert {m[1] for m in HANDLE.finditer(text)} <= ISSUED
    assert {m[0] for m in MARKER.finditer(text)} <= MARKERS
    for word in re.split(r"[\s<>\"`|\[\]\uff3b\uff3d\ufe47\ufe48]+", text):
        address = address_in(word)
        assert address is None or canonical_url(address.text) in RETRIEVED, address
    for end in (m.end() for m in re.finditer(r"[\]\uff3d]|%5d|&#93;|&rsqb;", text, re.IGNORECASE)):
        line = text[:end].rpartition("\n")[2][-60:]
        kind = forged(line)
        if kind == "citation":
            assert HANDLE.search(line), line
        if kind == "marker" and line.endswith("]]"):
            assert MARKER.search(line), line


@settings(max_examples=400, deadline=None)
@given(hostile | anything)
@example("[s[s9]1]")
@example("[[CHART:c[s9]9]]")
@example("https:/[s9]/evil.invalid/x")
@example("https://handbook.example.com/policy[s9]日本語")
@example("[s1www.evil.invalid]")
@example("[s9&#93; [&#115;9]")
@example("[s" + "a" * 320 + "www.evil.invalid]1]")
def test_nothing_unverified_is_ever_released(text: str) -> None:
    released, guard = run([text])

    assert_nothing_unverified(released)
    assert {c.handle.token for c in guard.cited} == {
        m[1] for m in HANDLE.finditer(released)
    } & ISSUED
    assert {str(m) for m in guard.markers} == {m[0] for m in MARKER.finditer(released)}


@settings(max_examples=150, deadline=None)
@given(anything, st.data())
@example("[the policy](https://handbook.example.com/policy)[s1][[CHART:c1]]\u200d", None)
def test_every_cut_of_the_stream_gives_the_same(text: str, data: st.DataObject | None) -> None:
    whole = outcome([text])

    assert outcome(text) == whole
    for at in range(len(text) + 1):
        assert outcome([text[:at], text[at:]]) == whole
    if data is not None:
        places = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
        cuts = [0, *places, len(text)]
        assert outcome(text[a:b] for a, b in pairwise(cuts)) == whole


@settings(max_examples=60, deadline=None)
@given(anything.filter(lambda text: text.isprintable() or "\n" in text))
def test_every_cut_of_its_bytes_gives_the_same(text: str) -> None:
    raw = text.encode("utf-8", "replace")
    whole = outcome([raw.decode()])

    assert outcome(decoded(raw[n : n + 1] for n in range(len(raw)))) == whole
    for at in range(len(raw) + 1):
        assert outcome(decoded([raw[:at], raw[at:]])) == whole


plain_words = st.text(
    st.characters(
        categories=("L", "Nd", "Zs", "Po", "Sm"),
        exclude_characters="[]/\uff3b\uff3d\u115f\u1160\u3164\uffa0\\&%",
    ),
    max_size=80,
)


@given(
    plain_words.filter(
        lambda text: (
            "www." not in text.casefold() and not re.search("https?:|ftp:|wss?:", text, re.I)
        )
    )
)
def test_plain_text_is_released_whole(text: str) -> None:
    released, guard = run(text)

    assert released == text
    assert guard.stripped == []


@pytest.mark.parametrize(
    "text",
    [
        "See [[Onboarding]], [[Team:Finance]] and [[HR:Leave policy]].",
        "Use array[0], f(x)[i] and dict['key'][s]; then a[i][j].",
        "A list: [a, b], [x](see below), note [12] and [§ 4].",
        "Paths: C:/Users/x, a//b, ../c, and //comment with 5 // 2 = 2.",
        "- [ ] open\n- [x] done\n\n| a | b |\n|---|---|\n",
        "Flags \U0001f3f4\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f, می\u200cخواهم, \U0001f469\u200d\U0001f52c.",
        "Ratio 3:4 at 10:30, e.g. hr@acme.example, 50% of R&D; AT&T, 5%5=0.",
        "https://handbook.example.com/policy, (HTTPS://handbook.example.com/policy/) and <http://plain.example>.",
        "见https://zh.example/文档。 Also https://wiki.example.com/a?page=1.",
        '[the policy](https://handbook.example.com/policy), [it](https://handbook.example.com/policy "Policy").',
        "```python\nx = rows[1:]  # [todo]\n```\nמחיר: 5₪ [a] \u202bשלום\u202c.",
        "Unclosed [bracket and\nanother [[one and (one.",
        "[s1] and [s2] agree[s12].",
    ],
)
def test_an_honest_answer_is_untouched(text: str) -> None:
    released, guard = run(text)

    assert released == text
    assert guard.stripped == []


@pytest.mark.parametrize(
    ("text", "shown", "kinds"),
    [
        ("Revenue doubled [s9].", "Revenue doubled .", ["citation"]),
        ("Both [s1, s9] and [s2;s12].", "Both [s1] and [s2][s12].", ["citation"]),
        ("[s1](https://evil.invalid/doc)", "[s1]", ["url"]),
        ("[s1](see the annex)", "[s1](see the annex)", []),
        ("[s9](https://evil.invalid/doc) ok", " ok", ["citation", "url"]),
        ("[click](https://evil.invalid/?q=SECRET) me", "click me", ["url"]),
        ("![x](https://evil.invalid/p.png)!", "!x!", ["url"]),
        ("[a](b.html)", "a", ["url"]),
        ("[ref]: https://evil.invalid/x", "[ref]: ", ["url"]),
        ("go to www.evil.invalid/x, now", "go to , now", ["url"]),
        ("https://handbook.example.com/policy#SECRET", "", ["url"]),
        ("https://handbook.example.com/policy?x=1", "", ["url"]),
        ("https://handbook.example.com/policy\u3002evil.invalid/?q=1", "", ["url"]),
        (
            "https://handbook.example.com/policy?utm_source=SECRET.",
            "https://handbook.example.com/policy.",
            ["tracking"],
        ),
        (
            "[it](https://handbook.example.com/policy?utm_source=x)",
            "[it](https://handbook.example.com/policy)",
            ["tracking"],
        ),
        ("https://handbook.example.com/policy?utm%5Fsource=SECRET", "", ["url"]),
        ("https://handbook.example.com/policy?utm_source=x&q=SECRET", "", ["url"]),
        ("https://handbook.example.com:443/policy", "https://handbook.example.com:443/policy", []),
        ("https://handbook.example.com@evil.invalid/policy", "", ["url"]),
        ("[x](https://evil.invalid\\@handbook.example.com/policy)", "x", ["url"]),
        ("[[CHART:c1]] [[CHART:c9]]", "[[CHART:c1]] ", ["marker"]),
        ("here: [[CHART:c9 and on", "here:  and on", ["marker"]),
        ("[[s1]]", "[[s1]]", []),
        ("[[s9]]", "[]", ["citation"]),
        ("[s[s9]1]", "[s1 ", ["citation", "citation"]),
        ("[s[s9]9]", "[s9 ", ["citation", "citation"]),
        ("&#91;s9&#93; and [s9&#93;", " and [", ["citation", "citation"]),
        ("a%5Bs9%5Db", "", ["citation"]),
        ("https:/[s9]/evil.invalid/x", "https:/ /evil.invalid/x", ["citation"]),
    ],
)
def test_what_is_not_verified_is_stripped_and_recorded_once(
    text: str, shown: str, kinds: Sequence[str]
) -> None:
    released, guard = run([text])

    assert (released, [step.kind for step in guard.stripped]) == (shown, list(kinds))


def test_an_answer_goes_on_after_a_tool_and_what_was_begun_before_does_not_close_after() -> None:
    guard = a_guard()

    first = guard.feed("See [s") + guard.finish()
    second = guard.feed("9] and [[CHART:") + guard.finish() + guard.feed("c9]]") + guard.finish()

    assert first + second == guard.shown.text
    assert_nothing_unverified(guard.shown.text)


def test_a_citation_is_counted_once_and_a_marker_as_often_as_it_stands() -> None:
    _, guard = run(["[s1][s2][s1] [[CHART:c1]][[CHART:c1]]"])

    assert [c.handle.token for c in guard.cited] == ["s1", "s2"]
    assert [str(m) for m in guard.markers] == ["[[CHART:c1]]"] * 2
    assert guard.shown.cited == tuple(guard.cited)
    assert Marker.scan(guard.shown.text) == tuple(guard.markers)


def test_words_of_the_product_count_as_shown() -> None:
    guard = a_guard()
    guard.feed("One ")
    guard.finish()
    guard.add("two")

    assert guard.shown.text == "One two"


@pytest.mark.parametrize(
    "unit",
    [
        "a",
        "[",
        "]",
        "[a",
        "[[x",
        "[x](b)",
        "(",
        "&#91;",
        "s9&#93;",
        "https://x",
        "日",
        "\u200b",
        "\U0001f469\u200d",
        "a\u0301",
        "\u202bש",
    ],
)
def test_work_and_what_is_held_grow_with_the_answer_and_not_faster(
    unit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = unit * (12_000 // len(unit))
    cuts, cleaned = 0, 0

    def counted_token(held: str, at: int, *, final: bool) -> Token | None:
        nonlocal cuts
        cuts += 1
        return next_token(held, at, final=final)

    def counted_cleaning(part: str) -> str:
        nonlocal cleaned
        cleaned += len(part)
        return neutralise_hidden_text(part)

    monkeypatch.setattr(ground, "next_token", counted_token)
    monkeypatch.setattr(hidden_stream, "neutralise_hidden_text", counted_cleaning)
    guard = a_guard()
    for char in text:
        guard.feed(char)
        assert len(guard._held) <= MAX_WORD + MAX_TARGET + MAX_GROUP
    guard.finish()

    assert cuts <= 4 * len(text)
    assert cleaned <= 4 * len(text)


def rows_of(family: str) -> list[dict[str, Any]]:
    path = SHARED / "data/injection.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [row for row in rows if row["family"] == family]


needs_rows = pytest.mark.skipif(
    not (SHARED / "data/injection.jsonl").exists(), reason="needs COGNI_SHARED"
)
NOTHING = Evidence(lambda _: Unissued.UNISSUED, lambda _: False, frozenset)


def obeyed(row: dict[str, Any]) -> tuple[str, AnswerGuard]:
    guard = AnswerGuard(NOTHING)
    text = f"{row['obey'].get('answer', '')}\n{row['text']}"
    return "".join(map(guard.feed, text)) + guard.finish(), guard


@needs_rows
@pytest.mark.parametrize("family", ["citation_spoof", "marker_spoof", "markdown_exfil"])
def test_no_model_that_obeys_gets_anything_unverified_through(family: str) -> None:
    rows = rows_of(family)
    assert len(rows) >= 18

    for row in rows:
        released, guard = obeyed(row)
        plain = unicodedata.normalize("NFKC", html.unescape(unquote(released)))
        assert not re.search(r"\[s[0-9]+\]|\[\[[A-Z]+:[^\]]*\]\]", plain), row["id"]
        assert not any(map(address_in, re.split(r"[\s<>\"`|\[\]]+", released))), row["id"]
        assert (guard.cited, guard.markers) == ([], [])
        written = unicodedata.normalize("NFKC", html.unescape(unquote(row["obey"]["answer"])))
        if re.search(r"\[s[0-9]|\[\[|://", neutralise_hidden_text(written)):
            assert guard.stripped, row["id"]


@needs_rows
def test_honest_rows_come_out_as_they_are() -> None:
    for row in rows_of("benign_control"):
        released, guard = run([row["text"]], addresses_in(row["text"]))
        assert (released, guard.stripped) == (row["text"], []), row["id"]
