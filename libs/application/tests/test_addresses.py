"""Where an address begins and ends, and when two are one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogni_application.addresses import (
    Address,
    address_in,
    addresses_in,
    canonical_url,
    without_tracking,
)


@pytest.mark.parametrize(
    ("word", "found"),
    [
        ("https://a.example/x", Address(0, "https://a.example/x")),
        ("(see:https://a.example/x).", Address(5, "https://a.example/x")),
        ("1.https://a.example", Address(2, "https://a.example")),
        ("HTTP:a.example", Address(0, "HTTP:a.example")),
        ("src=//a.example/p", Address(4, "//a.example/p")),
        ("www.a.example,", Address(0, "www.a.example")),
        ("git+ssh://a.example", Address(0, "git+ssh://a.example")),
        ("https://a.example/文档。", Address(0, "https://a.example/文档")),
    ],
)
def test_an_address_is_found_without_what_only_follows_it(word: str, found: Address) -> None:
    assert address_in(word) == found


@pytest.mark.parametrize(
    "word",
    [
        "",
        "a//b",
        "//comment",
        "C:/Users/x",
        "C://x",
        "10:30",
        "https://",
        "http:",
        "hr@a.example",
        "awww.",
        "a.b/c",
        "..//x",
    ],
)
def test_what_only_looks_like_an_address_is_none(word: str) -> None:
    assert address_in(word) is None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("HTTPS://A.Example/x/", "https://a.example/x"),
        ("https://a.example:443/x", "https://a.example/x"),
        ("http://a.example:80", "http://a.example/"),
        ("https://a.example/%7Eme", "https://a.example/~me"),
        ("www.a.example", "https://www.a.example/"),
        ("//a.example/x", "https://a.example/x"),
        ("https://bücher.example/x", "https://xn--bcher-kva.example/x"),
        ("https://BÜCHER.example/x", "https://xn--bcher-kva.EXAMPLE/x"),
        ("https://a.example./x", "https://a.example/x"),
        ("https://a.example/文档", "https://a.example/%e6%96%87%E6%A1%A3"),
        ("https://a.example/?q=%41", "https://a.example/?q=A"),
    ],
)
def test_two_ways_to_write_one_address_are_the_same(one: str, other: str) -> None:
    assert canonical_url(one) == canonical_url(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://a.example/x", "http://a.example/x"),
        ("https://a.example/x", "https://a.example/x?q=1"),
        ("https://a.example/x", "https://a.example/x#secret"),
        ("https://a.example/x", "https://a.example:8443/x"),
        ("https://a.example/x", "https://a.example@evil.example/x"),
        ("https://a.example/x", "https://evil.example\\@a.example/x"),
        ("https://a.example/x", "https://user@a.example/x"),
        ("https://a.example/X", "https://a.example/x"),
        ("https://fass.example", "https://faß.example"),
        ("https://apple.example", "https://\u0430pple.example"),
        ("https://a.example/x%2Fy", "https://a.example/x/y"),
        ("https://a.example/x%3Fq=1", "https://a.example/x?q=1"),
        ("https://a.example/x?utm_source=secret", "https://a.example/x"),
        ("https://a.example", "https://a.example:99999999"),
        ("https://[::1]", "https://[::1"),
    ],
)
def test_what_could_lead_elsewhere_is_another_address(one: str, other: str) -> None:
    assert canonical_url(one) != canonical_url(other)


@given(st.text(max_size=60))
def test_every_text_has_a_canonical_form_and_its_addresses(text: str) -> None:
    assert canonical_url(canonical_url(text)) is not None
    assert all(addresses_in(text))


def test_an_address_counts_with_and_without_its_fragment_and_its_chinese_tail() -> None:
    assert addresses_in("见https://a.example/x#top查看。(www.b.example)") == {
        canonical_url("https://a.example/x#top查看。(www.b.example"),
        "https://a.example/x#top",
        "https://a.example/x",
        "https://www.b.example",
    }


@pytest.mark.parametrize(
    ("url", "left"),
    [
        ("https://a.example/x?utm_source=mail&q=1&GCLID=2#top", "https://a.example/x?q=1#top"),
        ("https://a.example/x?utm_campaign=a", "https://a.example/x"),
        ("https://a.example/x?q=utm_source", "https://a.example/x?q=utm_source"),
        ("https://a.example/utm_source=1", "https://a.example/utm_source=1"),
    ],
)
def test_what_only_tracks_is_left_out(url: str, left: str) -> None:
    assert without_tracking(url) == left


@given(st.text(max_size=60).map(lambda rest: f"https://a.example/{rest}"))
def test_a_canonical_form_is_its_own(url: str) -> None:
    assert canonical_url(canonical_url(url)) == canonical_url(url)
