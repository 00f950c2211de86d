import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogni_surfaces import BrandTokens
from cogni_surfaces.brand import contrast, wrong_token

GOOD = {
    "colour_accent": "#0a5a3c",
    "colour_on_accent": "#ffffff",
    "colour_background": "#ffffff",
    "colour_text": "#101010",
    "radius": "8px",
    "font": "serif",
    "density": "compact",
    "icons": "filled",
    "placement": "left",
    "name": "Ask Acme",
}


def test_a_look_is_made_of_tokens() -> None:
    assert BrandTokens(GOOD).tokens == GOOD
    assert BrandTokens.of(GOOD).tokens == GOOD


@pytest.mark.parametrize(
    "name", ["generated", "label", "provenance", "sources", "confirmation", "freshness", "css"]
)
def test_what_discloses_has_no_token(name: str) -> None:
    with pytest.raises(ValueError, match="no brand token"):
        BrandTokens({name: "none"})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("colour_text", "red"),
        ("colour_text", "#fff"),
        ("colour_text", "#0a5a3c80"),
        ("colour_text", "transparent"),
        ("colour_accent", "#000000;display:none"),
        ("colour_accent", "url(https://evil.example)"),
        ("radius", "25px"),
        ("radius", "8px}.generated{display:none"),
        ("font", "https://evil.example/f.woff2"),
        ("density", "invisible"),
        ("icons", "<svg>"),
        ("placement", "behind"),
        ("name", "<b>Acme</b>"),
        ("name", "Acme\u202e"),
        ("name", ""),
        ("name", "x" * 41),
    ],
)
def test_a_value_is_one_of_few(name: str, value: str) -> None:
    with pytest.raises(ValueError, match="no such value"):
        BrandTokens({name: value})


def test_text_that_cannot_be_read_is_no_look() -> None:
    hidden = {"colour_text": "#ffffff", "colour_background": "#fefefe"}

    with pytest.raises(ValueError, match="contrast"):
        BrandTokens(hidden)
    assert BrandTokens.of({**hidden, "radius": "4px"}).tokens == {"radius": "4px"}


def test_a_wrong_token_keeps_no_surface_from_opening() -> None:
    assert BrandTokens.of({**GOOD, "label": "none", "radius": "999px"}).tokens == {
        name: value for name, value in GOOD.items() if name != "radius"
    }


@given(st.dictionaries(st.sampled_from([*GOOD, "label", "css"]), st.text(max_size=12)))
def test_what_is_left_of_any_look_is_valid(stored: dict[str, str]) -> None:
    assert wrong_token(BrandTokens.of(stored).tokens) is None


def test_contrast_is_the_same_both_ways() -> None:
    assert contrast("#777777", "#ffffff") == contrast("#ffffff", "#777777") < 4.5
