import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogni_domain.knowledge.vocabulary import Ambiguous, Term, Unknown, Vocabulary
from cogni_engine import Parameter, ParameterType
from cogni_kernel import InvalidArgumentError, ModelFacingText, VocabularyId
from cogni_testing import err, ok

LEIPZIG = Term("LEJ-2", "Leipzig office", ("Plagwitz", "Büro Leipzig"), ("site=LEJ-2",))
YORK = Term("YRK-1", "York office", ("Micklegate",), ("site=YRK-1", "country=GB"))
NEW_YORK = Term("NYC-1", "New York office", ("Brooklyn", "YRK"), ("site=NYC-1",))
SUZHOU = Term("SZV-1", "苏州办公室", ("Suzhou",), ("site=SZV-1",))
SITES = Vocabulary(VocabularyId("sites"), (LEIPZIG, YORK, NEW_YORK, SUZHOU), "sites.yaml")


@pytest.mark.parametrize(
    ("spoken", "meant"),
    [
        ("LEJ-2", LEIPZIG),
        ("lej 2", LEIPZIG),
        ("York office", YORK),
        ("  YORK   OFFICE!", YORK),
        ("micklegate", YORK),
        ("YRK", NEW_YORK),
        ("buro leipzig", LEIPZIG),
        ("leip", LEIPZIG),
        ("苏州", SUZHOU),
        ("Ｓｕｚｈｏｕ", SUZHOU),
        ("new york", NEW_YORK),
    ],
)
def test_the_first_pass_that_finds_a_term_decides(spoken: str, meant: Term) -> None:
    assert SITES.resolve(spoken) == meant


def test_what_fits_several_terms_is_for_the_person_to_say() -> None:
    assert SITES.resolve("york") == Ambiguous((YORK, NEW_YORK))
    assert SITES.resolve("office") == Ambiguous((LEIPZIG, YORK, NEW_YORK))


def test_a_key_goes_before_another_terms_name() -> None:
    one, other = Term("blue", "Red"), Term("red", "Green")

    assert Vocabulary(VocabularyId("v"), (one, other), "v").resolve("Red") == other


@pytest.mark.parametrize(
    "spoken", ["", " ", "\u200b", "-", "o", "Oslo", "office " * 10_000, "\ud800"]
)
def test_what_nobody_calls_anything_is_unknown(spoken: str) -> None:
    assert SITES.resolve(spoken) == Unknown(spoken)


@given(st.text())
def test_whatever_is_said_something_comes_back(spoken: str) -> None:
    assert isinstance(SITES.resolve(spoken), Term | Ambiguous | Unknown)


@given(st.sampled_from(SITES.terms), st.data())
def test_every_word_for_a_term_finds_it(term: Term, data: st.DataObject) -> None:
    word = data.draw(st.sampled_from([term.key, term.name, *term.aliases]))

    assert SITES.resolve(word.upper()) == term


def test_the_model_learns_which_words_exist_and_never_what_they_expand_to() -> None:
    fragment = str(SITES.prompt_fragment())

    assert fragment.splitlines()[0] == "- Leipzig office, Plagwitz, Büro Leipzig"
    assert "site=" not in fragment
    assert "LEJ-2" not in fragment


def test_a_tools_parameter_takes_the_name_and_gets_the_key() -> None:
    site = Parameter(
        "site", ParameterType.STRING, ModelFacingText("Which."), vocabulary=SITES.for_tool()
    )

    assert ok(site.validate("plagwitz")) == "LEJ-2"
    unclear = err(site.validate("york"), InvalidArgumentError).model_hint
    assert "York office, New York office" in str(unclear)
    unknown = err(site.validate("Oslo"), InvalidArgumentError).model_hint
    assert "Leipzig office" in str(unknown)


@pytest.mark.parametrize(
    "words", [("", "Name"), ("key", " "), ("key", "Two\nlines"), ("key", "Name", ("-",))]
)
def test_a_term_without_a_word_is_none(words: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match="one line"):
        Term(*words)  # type: ignore[arg-type]


@pytest.mark.parametrize("terms", [(), (Term("a", "A"), Term("A", "B"))])
def test_a_vocabulary_has_terms_with_keys_of_their_own(terms: tuple[Term, ...]) -> None:
    with pytest.raises(ValueError, match=r"sites\.yaml"):
        Vocabulary(VocabularyId("sites"), terms, "sites.yaml")
