from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogni_adapters.ticketing.adf import DEEPEST, blocks_of
from cogni_domain.knowledge.extracted import Block, BlockKind


def node(kind: str, *content: Any, **attributes: Any) -> dict[str, Any]:
    return {"type": kind, "attrs": attributes, "content": list(content)}


def words(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}


def para(text: str) -> dict[str, Any]:
    return node("paragraph", words(text))


BODY = node(
    "doc",
    node("heading", words("Pump"), level=1),
    node("paragraph", words("Ask "), node("mention", text="@Ana"), words(" first.")),
    node("heading", words("Steps"), level=2),
    node(
        "bulletList",
        node(
            "listItem",
            para("open the valve"),
            node("orderedList", node("listItem", para("slowly"))),
        ),
        node("listItem", para("wait")),
    ),
    node("codeBlock", words('if (a > b) open("<valve>")'), language="java"),
    node(
        "table",
        node("tableRow", node("tableHeader", para("Pump")), node("tableHeader", para("Limit"))),
        node("tableRow", node("tableCell", para("P1")), node("tableCell", para("4 bar"))),
    ),
    node("heading", words("Else"), level=2),
    node("expand", node("panel", para("within")), title="More"),
)


def test_a_body_becomes_blocks_under_its_headings() -> None:
    steps = ("T", "Pump", "Steps")

    assert blocks_of(BODY, ("T",)) == (
        Block(BlockKind.HEADING, "Pump", ("T", "Pump")),
        Block(BlockKind.PARAGRAPH, "Ask @Ana first.", ("T", "Pump")),
        Block(BlockKind.HEADING, "Steps", steps),
        Block(BlockKind.LIST, "- open the valve\n  - slowly\n- wait", steps),
        Block(BlockKind.CODE, 'if (a > b) open("<valve>")', steps),
        Block(BlockKind.TABLE, "Pump | Limit\nP1 | 4 bar", steps),
        Block(BlockKind.HEADING, "Else", ("T", "Pump", "Else")),
        Block(BlockKind.PARAGRAPH, "More", ("T", "Pump", "Else")),
        Block(BlockKind.PARAGRAPH, "within", ("T", "Pump", "Else")),
    )


@pytest.mark.parametrize("body", [None, "", "  ", {}, [], {"type": "doc"}, node("doc"), 7])
def test_a_body_without_text_has_no_blocks(body: object) -> None:
    assert blocks_of(body) == ()


def test_plain_text_is_a_paragraph() -> None:
    assert blocks_of(" as before ") == (Block(BlockKind.PARAGRAPH, "as before"),)


def test_a_node_of_an_unknown_kind_gives_what_is_in_it() -> None:
    assert [b.text for b in blocks_of(node("doc", node("newest", para("kept"))))] == ["kept"]


def test_nesting_without_end_is_cut() -> None:
    deep: dict[str, Any] = para("too deep")
    for _ in range(DEEPEST + 5):
        deep = node("panel", deep)

    assert blocks_of(node("doc", para("seen"), deep)) == (Block(BlockKind.PARAGRAPH, "seen"),)


json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.fixed_dictionaries(
            {
                "type": st.sampled_from(
                    ["doc", "table", "bulletList", "heading", "text", "taskList"]
                )
            },
            optional={
                "content": st.lists(inner, max_size=3) | inner,
                "text": inner,
                "attrs": inner,
            },
        )
    ),
    max_leaves=12,
)


@given(json)
def test_any_json_is_read_and_no_block_is_blank(body: object) -> None:
    assert all(block.text.strip() for block in blocks_of(body))
