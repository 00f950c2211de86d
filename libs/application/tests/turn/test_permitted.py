import re
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from cogni_application.turn.ground import Evidence
from cogni_application.turn.permitted import PermittedAnswer
from cogni_domain.governance.output_policy import OutputPolicy, Prohibition, Redaction
from cogni_domain.knowledge.citations import Citation, CitationHandle, Unissued
from cogni_domain.run_record import StripStep
from cogni_kernel import ChunkId, DocumentId, HumanText

PRICE = Prohibition("price", HumanText("Ask sales for a price."), ("guaranteed price",))
KITE = Redaction(re.compile("kite", re.IGNORECASE), "")
PIECES = ("guaranteed", " ", "price", "guaran", "teed", "[s1]", "[s9]", "*", "\n", "the ", "ht", "kite", "tp://evil.example ")  # fmt: skip
answers = st.lists(st.sampled_from(PIECES), max_size=8).map("".join)


def citation(handle: str) -> Citation | Unissued:
    if handle != "s1":
        return Unissued.UNISSUED
    chunk = ChunkId("d1:1:0")
    return Citation(CitationHandle(handle), "Leave", "page 1", DocumentId("d1"), chunk)


EVIDENCE = Evidence(citation, lambda _: False, frozenset)


def run(pieces: Sequence[str], policy: OutputPolicy) -> tuple[str, PermittedAnswer]:
    answer = PermittedAnswer(EVIDENCE, policy)
    released = "".join([*map(answer.feed, pieces), answer.finish()])
    assert answer.shown.text == released
    return released, answer


@given(text=answers, data=st.data())
def test_what_is_prohibited_never_reaches_a_reader_however_the_answer_is_cut(
    text: str, data: st.DataObject
) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    pieces = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    policy = OutputPolicy((PRICE,))

    released, answer = run(pieces, policy)
    whole, at_once = run([text], policy)

    assert (released, answer.blocked) == (whole, at_once.blocked)
    assert (answer.stripped, answer.cited) == (at_once.stripped, at_once.cited)
    seen = " ".join(re.sub(r"[*]", "", released).split())
    assert not re.search(r"\bguaranteed price\b", seen)
    assert answer.stripped.count(StripStep("prohibited", "price")) == (answer.blocked is not None)


def test_nothing_is_shown_from_the_word_on_that_completes_the_phrase() -> None:
    released, answer = run(["A guaran", "[s9]teed", " price of 5 [s1]"], OutputPolicy((PRICE,)))

    assert (released, answer.blocked, answer.cited) == ("A guaranteed ", PRICE, [])
    assert answer.stripped == [StripStep("citation", "[s9]"), StripStep("prohibited", "price")]


def test_a_source_of_what_is_shown_before_stays() -> None:
    released, answer = run(["Leave [s1] has a guaranteed price"], OutputPolicy((PRICE,)))

    assert released == "Leave [s1] has a guaranteed "
    assert answer.shown.cited == tuple(answer.cited) == (citation("s1"),)


@given(text=answers)
def test_what_is_taken_out_lets_nothing_unverified_close_up(text: str) -> None:
    released, answer = run(list(text), OutputPolicy((), (KITE,)))

    assert "kite" not in released
    assert "http://evil.example" not in released
    assert "[s9]" not in released
    assert answer.blocked is None


@given(text=answers, cut=st.integers(0, 40))
def test_a_profile_without_a_policy_changes_nothing(text: str, cut: int) -> None:
    plain, _ = run([text[:cut], text[cut:]], OutputPolicy())
    never = Prohibition("never", HumanText("No."), ("a phrase that is not there",))
    checked, _ = run([text[:cut], text[cut:]], OutputPolicy((never,)))

    assert plain == checked
