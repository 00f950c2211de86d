import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogni_adapters.wiki.storage_format import to_html


def body(storage: str) -> str:
    return to_html("T", storage).decode().partition("<body>")[2]


@pytest.mark.parametrize(
    ("storage", "found"),
    [
        ("<p>plain</p>", "<p>plain</p>"),
        (
            "<ac:plain-text-body><![CDATA[a ]]]]><![CDATA[> b]]></ac:plain-text-body>",
            "<pre>a ]]&gt; b</pre>",
        ),
        (
            '<ac:link><ri:page ri:content-title="a > b"/>'
            "<ac:plain-text-link-body><![CDATA[here]]></ac:plain-text-link-body></ac:link>",
            "here",
        ),
        ('<ac:parameter ac:name="page">HR:Pay</ac:parameter>shown', "shown"),
        ('<ac:structured-macro ac:name="include"><ri:page/></ac:structured-macro>', ""),
    ],
)
def test_what_is_written_on_the_page_is_kept_and_what_its_macros_bring_is_not(
    storage: str, found: str
) -> None:
    assert body(storage) == found


def test_a_title_is_text() -> None:
    assert b"<title>&lt;b&gt;</title>" in to_html("<b>", "")


@given(st.text(alphabet="<>![]CDATA/ac:x \"'", max_size=60))
def test_anything_is_turned_into_something(storage: str) -> None:
    assert "<ac:" not in body(storage).replace("<pre>", "") or "<ac:" in storage
