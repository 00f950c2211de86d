"""What the pages show, and what of it a browser takes for markup."""

import json
import re
from collections.abc import Callable
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogni_acme.host_site.frame import Mount
from cogni_acme.host_site.markup import fill, script_value
from cogni_acme.host_site.pages import direction
from cogni_acme.host_site.site import HostSite
from cogni_acme.host_site.text import to_html

if TYPE_CHECKING:
    from tests.host_site.conftest import Show

PATHS = ["/", "/handbook", "/requests", "/people", "/time-off", "/wiki/handbook/leave"]
WELCOME = "wiki/handbook/welcome"
HOSTILE = [
    "<script>alert(1)</script>",
    "</title><img src=x onerror=alert(1)>",
    '" autofocus onfocus="alert(1)',
    "{title} {0} {__class__}",
    "<!-- <b>",
    "`</code><svg onload=alert(1)>`",
    "| <i>a</i> |\n|---|\n| <b>b</b> |",
]
VOID = {"meta", "link", "input", "br", "img"}


class Reader(HTMLParser):
    """Reads a document and insists that every element is closed in its order."""

    def __init__(self, document: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.feed(document)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def of(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for found, attributes in self.elements if found == tag]


def mounted(document: str) -> dict[str, Any]:
    """Return what a page mounts the assistant with."""
    found = re.search(r'mount\("#assistant", \{\.\.\.(\{.*?\}), principal_token', document)
    assert found is not None
    config: dict[str, Any] = json.loads(found[1])
    return config


@pytest.mark.parametrize("person", ["engineer", "contractor", "outsider"])
@pytest.mark.parametrize("path", PATHS[:-1])
def test_every_page_is_whole_for_everybody(show: "Show", path: str, person: str) -> None:
    status, document = show(path, person)

    page = Reader(document)
    assert status == 200
    assert len(page.of("h1")) == len(page.of("main")) == len(page.of("title")) == 1
    assert [entry["href"] for entry in page.of("a") if "aria-current" in entry] == [path]
    assert [choice["value"] for choice in page.of("option") if "selected" in choice] == [person]


@pytest.mark.parametrize("title", HOSTILE)
def test_a_hostile_title_stays_text(
    show: "Show", renamed: Callable[[str, str], HostSite], title: str
) -> None:
    plain, hostile = renamed(WELCOME, "Welcome"), renamed(WELCOME, title)

    for path in ("/handbook", f"/{WELCOME}"):
        expected = {tag for tag, _ in Reader(show(path, "engineer", plain)[1]).elements}
        found = Reader(show(path, "engineer", hostile)[1])
        structure = {"table", "thead", "tbody", "tr", "th", "td", "code"}
        assert {tag for tag, _ in found.elements} - structure <= expected
        assert not [a for _, a in found.elements if any(name.startswith("on") for name in a)]


def test_a_path_is_shown_nowhere_as_markup(show: "Show") -> None:
    _, document = show('/"><script>alert(1)</script>', "engineer")

    assert "<script>alert" not in document


def test_a_page_mounts_its_own_record_by_reference(show: "Show") -> None:
    page = mounted(show("/wiki/handbook/leave", "engineer")[1])
    request = mounted(show("/requests/REQ-4471", "engineer")[1])

    assert page["subject_ref"] == {"kind": "page", "id": "wiki/handbook/leave"}
    assert request["subject_ref"] == {"kind": "ticket", "id": "tickets/customer/REQ-4471"}
    assert request["key_id"] == "demo-acme"
    assert request["brand"]["name"] == "Acme assistant"
    assert set(request) == {"key_id", "surface_id", "placement", "brand", "subject_ref"}


@pytest.mark.parametrize("path", ["/", "/people", "/wiki/nowhere", "/requests/REQ-9"])
def test_a_page_without_a_record_mounts_none(show: "Show", path: str) -> None:
    assert "subject_ref" not in mounted(show(path, "engineer")[1])


def test_only_scripts_of_this_response_may_run(site: HostSite) -> None:
    _, document = site.respond("/", site.person("engineer"), Mount("http://h:1", "abc"))

    scripts = Reader(document).of("script")
    assert [script["nonce"] for script in scripts] == ["abc", "abc"]
    assert scripts[0]["src"] == "http://h:1/mount.js"


def test_a_page_in_arabic_runs_from_right_to_left(show: "Show") -> None:
    _, document = show("/wiki/handbook/dubai/ramadan-hours", "engineer")

    article = next(div for div in Reader(document).of("div") if div.get("class") == "text")
    assert article["dir"] == "rtl"
    assert "ساعات العمل في شهر رمضان" in document


@pytest.mark.parametrize(
    ("text", "runs"),
    [
        ("Leave", "ltr"),
        ("عمر", "rtl"),
        ("12. שלום", "rtl"),
        ("苏州", "ltr"),
        ("2026", "ltr"),
        ("", "ltr"),
    ],
)
def test_the_first_letter_decides_the_direction(text: str, runs: str) -> None:
    assert direction(text) == runs


def test_markdown_becomes_headings_lists_tables_and_code() -> None:
    html = to_html("# T\n\n## A\nb `c`\n\n- d\n- e\n\n1. f\n2. g\n\n| h |\n|---|\n| i |\n")

    assert html.startswith("<h2>A</h2><p>b <code>c</code></p><ul><li>d</li><li>e</li></ul>")
    assert "<ol><li>f</li><li>g</li></ol>" in html
    assert '<th scope="col">h</th>' in html
    assert "<td>i</td>" in html


@given(st.text(alphabet="#-|`*1.<>&\"' \n\tab{}\u202e\0"))
def test_no_text_becomes_an_element_that_was_not_meant(text: str) -> None:
    meant = {"h2", "h3", "h4", "h5", "h6", "p", "ul", "ol", "li", "code", "div"}
    meant |= {"table", "thead", "tbody", "tr", "th", "td"}

    assert {tag for tag, _ in Reader(to_html(text)).elements} <= meant


@given(st.text())
def test_filling_escapes_what_is_not_markup(text: str) -> None:
    filled = fill('<p title="{text}">{text}</p>', text=text)

    assert set(re.sub(r"&(amp|lt|gt|quot|#x27);", "", filled[10:-4])) & set("<>&'") <= {">"}


@given(st.dictionaries(st.text(), st.text()))
def test_a_value_in_a_script_is_the_same_value_and_ends_no_script(value: dict[str, str]) -> None:
    written = script_value(value)

    assert json.loads(written) == value
    assert not set("<>&") & set(written)
