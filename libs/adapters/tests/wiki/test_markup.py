import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogni_adapters.wiki.markup import blocks_of, title_of
from cogni_domain.knowledge.extracted import Block, BlockKind

PAGE = """====== Pumps ======
Press **start**, see [[eng:manual|the manual]] or http://pumps.example/a//b.

===== Starting =====
  * open the valve
  * wait((at least a minute))
  - then go

^ Pump ^ Limit ^
| P1 | [[eng:limits|4 bar]] |
<code bash>
if [ a > b ]; then open "<valve>"; fi
</code>
"""


def test_a_page_becomes_blocks_under_its_headings() -> None:
    under = ("Pumps", "Starting")

    assert blocks_of(PAGE) == (
        Block(BlockKind.HEADING, "Pumps", ("Pumps",)),
        Block(
            BlockKind.PARAGRAPH,
            "Press start, see the manual or http://pumps.example/a//b.",
            ("Pumps",),
        ),
        Block(BlockKind.HEADING, "Starting", under),
        Block(
            BlockKind.LIST,
            "* open the valve\n  * wait (at least a minute)\n  - then go",
            under,
        ),
        Block(BlockKind.TABLE, "Pump | Limit\nP1 | 4 bar", under),
        Block(BlockKind.CODE, 'if [ a > b ]; then open "<valve>"; fi', under),
    )


def test_a_heading_ends_what_stood_below_a_deeper_one() -> None:
    found = blocks_of("===== A =====\n==== B ====\n===== C =====\ntext")

    assert found[-1].heading == ("C",)


def test_a_page_that_includes_others_holds_none_of_their_text() -> None:
    assert blocks_of("All about pay.\n{{namespace>hr}}\n{{page>hr:pay}}") == (
        Block(BlockKind.PARAGRAPH, "All about pay."),
    )


@pytest.mark.parametrize("text", ["", " \n\n", "\\\\ ", "{{pic.png}}"])
def test_a_page_without_text_has_no_blocks(text: str) -> None:
    assert blocks_of(text) == ()


def test_the_title_is_the_first_heading() -> None:
    assert title_of(blocks_of(PAGE), "eng:pumps") == "Pumps"
    assert title_of(blocks_of("text"), "eng:pumps") == "eng:pumps"


@given(st.text(alphabet="=^|*- \n<>code/[]{}()x", max_size=80))
def test_any_text_is_read_and_no_block_is_blank(text: str) -> None:
    assert all(block.text.strip() for block in blocks_of(text))
