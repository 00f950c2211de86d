import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cogni_kernel import Err, InvalidArgumentError, Ok
from cogni_surfaces import AUTHORITY, SurfaceConfig, config_of
from cogni_testing import err, ok

GOOD = {"surface_id": "chat", "principal_token": "a.b.c", "key_id": "demo-acme"}
KNOWN = {*GOOD, "subject_ref", "brand", "placement", "locale"}
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=6,
)


def test_a_config_of_identity_and_references_is_taken() -> None:
    whole = {
        **GOOD,
        "subject_ref": {"kind": "request", "id": "REQ-4471"},
        "brand": {"colour_accent": "#0a5a3c"},
        "placement": "launcher",
        "locale": "de-AT",
    }

    config = ok(config_of(whole))

    assert config.subject_ref == ("request", "REQ-4471")
    assert (config.placement, config.locale) == ("launcher", "de-AT")
    assert ok(config_of(GOOD)) == SurfaceConfig("chat", "a.b.c", "demo-acme")


def test_a_token_is_in_no_trace() -> None:
    assert "a.b.c" not in repr(ok(config_of(GOOD)))


def spellings(name: str) -> list[str]:
    head, *rest = name.split("_")
    camel = head + "".join(part.title() for part in rest)
    return sorted({name, name.upper(), name.title(), camel})


@pytest.mark.parametrize("name", [s for name in AUTHORITY for s in spellings(name)])
def test_authority_and_contents_are_rejected_with_the_reason(name: str) -> None:
    refusal = err(config_of({**GOOD, name: ["all"]}), InvalidArgumentError)

    assert refusal.detail["field"] == name
    assert "is not accepted: " in str(refusal.message)


@settings(max_examples=300)
@given(st.sampled_from([s for name in AUTHORITY for s in spellings(name)]), ANYTHING)
def test_no_value_makes_authority_acceptable(name: str, value: object) -> None:
    refusal = err(config_of({**GOOD, name: value}), InvalidArgumentError)

    assert "is not accepted: " in str(refusal.message)


@settings(max_examples=300)
@given(st.text(max_size=30).filter(lambda name: name not in KNOWN), ANYTHING)
def test_a_key_that_nobody_knows_is_rejected_by_name(name: str, value: object) -> None:
    refusal = err(config_of({**GOOD, name: value}), InvalidArgumentError)

    assert refusal.detail["field"] == name[:64]


@settings(max_examples=200)
@given(st.dictionaries(st.text(max_size=10), ANYTHING, min_size=1, max_size=4))
def test_a_record_is_never_taken_for_a_reference(body: dict[str, object]) -> None:
    refusal = err(
        config_of({**GOOD, "subject_ref": {"kind": "page", "id": "leave", **body}} | {})
        if not {"kind", "id"} >= set(body)
        else config_of({**GOOD, "subject_ref": [body]}),
        InvalidArgumentError,
    )

    assert refusal.detail["field"] == "subject_ref"


@settings(max_examples=300)
@given(st.fixed_dictionaries({}, optional=dict.fromkeys(sorted(KNOWN), ANYTHING)))
def test_whatever_is_given_the_answer_is_a_config_or_a_reason(given_config: object) -> None:
    match config_of(given_config):
        case Ok(config):
            assert config.surface_id
            assert config.placement in {"docked", "launcher"}
        case Err(error):
            assert isinstance(error, InvalidArgumentError)
            assert len(str(error.message)) > 10


@pytest.mark.parametrize("wrong", [None, [], "chat", 3, {1: "a"}])
def test_a_config_is_an_object(wrong: object) -> None:
    assert err(config_of(wrong), InvalidArgumentError).detail["field"] == "config"
