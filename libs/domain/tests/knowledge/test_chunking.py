from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cogni_domain.access.rule import AccessRule
from cogni_domain.knowledge.chunking import ChunkPolicy, Strategy
from cogni_domain.knowledge.corpus import Chunk, Document
from cogni_domain.knowledge.extracted import Block, BlockKind, ExtractedDocument
from cogni_domain.knowledge.passage_size import hundredths
from cogni_kernel import CorpusId, DocumentId, TenantId

DOCUMENT = Document(
    id=DocumentId("leave"),
    tenant_id=TenantId("acme"),
    corpus_id=CorpusId("handbook"),
    source_id="leave.md",
    title="Leave",
    version=3,
    content_digest="digest",
    rule=AccessRule.any_of("g:wiki/hr"),
    media_type="text/markdown",
    updated_at=datetime(2026, 1, 1, tzinfo=UTC),
)
POLICY = ChunkPolicy(target=80)

WORDS = st.sampled_from(
    [
        "leave",
        "Überstunden",
        "20",
        "req-4471",
        "年假规定",
        "отпуск",
        "إجازة",
        "ลาป่วย",
        "कर्मचारी",
        "휴가",
        "🙂",
    ]
) | st.sampled_from(
    ["a" * 400, "病" * 300, "e" + "\u0301" * 90, "end.", "why?", "没有。", "so,", "|", "\u3000"]
)
lines = st.lists(WORDS, min_size=1, max_size=25).map(" ".join).filter(str.strip)
texts = st.lists(lines, min_size=1, max_size=8).map("\n".join)
headings = st.sampled_from(["Leave", "Parents", "年假", "Very long " * 40])


@st.composite
def documents(draw: st.DrawFn) -> ExtractedDocument:
    """Blocks under headings as an extractor would give them."""
    path: list[str] = []
    blocks: list[Block] = []
    for number in range(draw(st.integers(1, 8))):
        locator = draw(st.sampled_from(["", f"page {number + 1}", f"lines {number}-{number + 3}"]))
        if draw(st.booleans()):
            path = [*path[: draw(st.integers(0, 2))], draw(headings)]
            blocks.append(Block(BlockKind.HEADING, path[-1], tuple(path), locator))
        else:
            kind = draw(st.sampled_from([k for k in BlockKind if k is not BlockKind.HEADING]))
            blocks.append(Block(kind, draw(texts), tuple(path), locator))
    return ExtractedDocument("Leave", tuple(blocks), "text/plain")


policies = st.builds(
    ChunkPolicy, st.sampled_from(Strategy), st.sampled_from([80, 120]), st.sampled_from([0, 20])
)


def chunks_of(*blocks: Block, policy: ChunkPolicy = POLICY) -> tuple[Chunk, ...]:
    return policy.chunk(DOCUMENT, ExtractedDocument("Leave", blocks, "text/plain"))


def paragraph(text: str, *heading: str, locator: str = "") -> Block:
    return Block(BlockKind.PARAGRAPH, text, heading, locator)


def visible(text: str) -> str:
    return "".join(text.split())


@settings(deadline=None)
@given(documents(), policies)
def test_every_character_is_in_a_passage_and_in_order(
    extracted: ExtractedDocument, policy: ChunkPolicy
) -> None:
    passages = iter(
        visible("".join("".join(c.heading) + c.text for c in policy.chunk(DOCUMENT, extracted)))
    )

    assert all(char in passages for block in extracted.blocks for char in visible(block.text))


@settings(deadline=None)
@given(documents(), policies)
def test_no_passage_is_larger_than_the_target_but_for_a_row(
    extracted: ExtractedDocument, policy: ChunkPolicy
) -> None:
    has_table = any(block.kind is BlockKind.TABLE for block in extracted.blocks)
    bound = policy.target * 100 * (3 if has_table else 1)

    assert all(hundredths(chunk.text) <= bound for chunk in policy.chunk(DOCUMENT, extracted))


@settings(deadline=None)
@given(documents(), policies)
def test_the_same_document_gives_the_same_passages_each_of_the_document(
    extracted: ExtractedDocument, policy: ChunkPolicy
) -> None:
    chunks = policy.chunk(DOCUMENT, extracted)

    assert policy.chunk(DOCUMENT, extracted) == chunks
    assert [str(c.id) for c in chunks] == [f"leave:3:{n}" for n in range(len(chunks))]
    assert {c.readers for c in chunks} == {frozenset({"g:wiki/hr"})}
    assert all(c.text.strip() for c in chunks)
    assert all(c.title == DOCUMENT.title and c.document_version == 3 for c in chunks)


def test_small_neighbours_under_one_heading_are_joined_and_their_places_covered() -> None:
    [chunk] = chunks_of(
        Block(BlockKind.HEADING, "Leave", ("Leave",), "page 3"),
        paragraph("Twenty days.", "Leave", locator="page 3"),
        paragraph("More on request.", "Leave", locator="page 4"),
    )

    assert chunk.text == "Twenty days.\n\nMore on request."
    assert chunk.heading == ("Leave",)
    assert chunk.locator == "pages 3-4"
    assert chunk.place == "pages 3-4"


def test_what_is_under_different_headings_is_not_joined() -> None:
    first, second = chunks_of(
        paragraph("Twenty days.", "Leave"), paragraph("By train.", "Travel", "How")
    )

    assert (first.heading, second.heading) == (("Leave",), ("Travel", "How"))


def test_a_heading_with_nothing_under_it_is_a_passage() -> None:
    chunks = chunks_of(
        Block(BlockKind.HEADING, "Leave", ("Leave",), "slide 1"),
        Block(BlockKind.HEADING, "Thank you", ("Thank you",), "slide 2"),
    )

    assert [(c.text, c.locator) for c in chunks] == [("Leave", "slide 1"), ("Thank you", "slide 2")]


def test_a_long_paragraph_is_cut_between_sentences_into_even_parts() -> None:
    sentence = "Every employee has a number of days of paid leave in each year, says the law."
    chunks = chunks_of(paragraph(" ".join([sentence] * 18)))

    assert len(chunks) > 2
    assert all(set(c.text.replace(". E", ".|E").split("|")) == {sentence} for c in chunks)
    sizes = [len(c.text) for c in chunks]
    assert max(sizes) - min(sizes) <= len(sentence) + 1


def test_cut_parts_repeat_whole_sentences_where_that_is_asked_for() -> None:
    numbered = [f"Sentence number {n} says a thing or two." for n in range(60)]
    policy = ChunkPolicy(target=80, overlap=15)
    chunks = chunks_of(paragraph(" ".join(numbered)), policy=policy)

    for one, other in pairwise(chunks):
        assert other.text.startswith(one.text.split(". ")[-1])


def test_a_table_is_cut_between_rows_under_its_header_and_each_part_has_its_cells() -> None:
    rows = [f"Cable of {n} metres | {n}.50 | in stock" for n in range(1, 40)]
    table = "\n".join(["Item | Price | Stock", *rows])
    chunks = chunks_of(Block(BlockKind.TABLE, table, ("Prices",), "Prices!A1:C40"))

    assert len(chunks) > 3
    assert all(c.text.startswith("Item | Price | Stock\n") for c in chunks)
    assert [row for c in chunks for row in c.text.split("\n")[1:]] == rows
    assert chunks[0].locator.startswith("Prices!A1:C")
    assert chunks[-1].locator.endswith(":C40")
    places = [tuple(map(int, c.locator.replace("Prices!A", "").split(":C"))) for c in chunks]
    assert all(one[1] + 1 == other[0] for one, other in pairwise(places))


def test_a_row_is_not_severed_though_it_is_larger_than_a_passage() -> None:
    long_row = "Note | " + "many words of a remark " * 20
    chunks = chunks_of(Block(BlockKind.TABLE, f"Kind | Text\nShort | one\n{long_row}\nLast | two"))

    assert any(long_row in c.text for c in chunks)


def test_an_endless_row_is_severed() -> None:
    chunks = chunks_of(Block(BlockKind.TABLE, "Kind | Text\nNote | " + "word " * 5_000))

    assert max(hundredths(c.text) for c in chunks) <= 80 * 100


def test_code_is_cut_between_lines_and_each_part_has_its_lines() -> None:
    code = "\n".join(f"value_{n} = compute(value_{n - 1}, {n})" for n in range(1, 31))
    code = code.replace("value_3 ", "  \nvalue_3 ").replace("\nvalue_30 ", " ")
    chunks = chunks_of(Block(BlockKind.CODE, code, (), "lines 11-40"))

    assert "\n".join(c.text for c in chunks) == code
    assert chunks[0].locator.startswith("lines 11-")
    assert chunks[-1].locator.endswith("-40")


def test_fixed_passages_run_across_headings() -> None:
    blocks = (
        Block(BlockKind.HEADING, "Leave", ("Leave",)),
        paragraph("Twenty days.", "Leave"),
        Block(BlockKind.HEADING, "Travel", ("Travel",)),
        paragraph("By train.", "Travel"),
    )
    [chunk] = chunks_of(*blocks, policy=ChunkPolicy(Strategy.FIXED))

    assert chunk.text == "Leave\n\nTwenty days.\n\nTravel\n\nBy train."
    assert chunk.heading == ()


def test_long_headings_leave_less_room() -> None:
    text = "Some words of a sentence. " * 40
    under = chunks_of(paragraph(text, "A heading of very many words " * 12))

    assert len(under) > len(chunks_of(paragraph(text, "Short")))


@pytest.mark.parametrize("strategy", Strategy)
def test_a_document_of_attachments_alone_has_no_passages(strategy: Strategy) -> None:
    assert chunks_of(policy=ChunkPolicy(strategy)) == ()


def test_white_space_of_any_width_takes_no_room() -> None:
    [chunk] = chunks_of(Block(BlockKind.TABLE, "Kind | Text\n" + "\u3000\x1f" * 30_000))

    assert chunk.text.strip() == "Kind | Text"


@pytest.mark.parametrize(("target", "overlap"), [(79, 0), (200, -1), (200, 51)])
def test_a_policy_that_makes_no_sense_is_refused(target: int, overlap: int) -> None:
    with pytest.raises(ValueError, match="word pieces"):
        ChunkPolicy(target=target, overlap=overlap)


def test_another_version_has_other_ids() -> None:
    extracted = ExtractedDocument("Leave", (paragraph("Twenty days."),), "text/plain")

    [old] = POLICY.chunk(DOCUMENT, extracted)
    [new] = POLICY.chunk(replace(DOCUMENT, version=4), extracted)

    assert (str(old.id), str(new.id)) == ("leave:3:0", "leave:4:0")


def test_a_place_does_not_say_the_title_again() -> None:
    block = Block(BlockKind.PARAGRAPH, "Twenty weeks.", (DOCUMENT.title, "Parents"), "line 3")
    [chunk] = ChunkPolicy().chunk(
        DOCUMENT, ExtractedDocument(DOCUMENT.title, (block,), "text/plain")
    )

    assert chunk.place == "Parents › line 3"
