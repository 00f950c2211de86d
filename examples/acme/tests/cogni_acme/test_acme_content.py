"""What the company has, and that a slip in its files cannot open a page."""

import shutil
from pathlib import Path

import pytest

from cogni_acme.content import CONTENT, Content, Kind, load_content
from cogni_acme.manifest import rule_of
from cogni_domain.access.rule import Unmappable


@pytest.fixture(scope="module")
def acme() -> Content:
    return load_content("acme")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copytree(CONTENT, tmp_path / "content")
    return tmp_path / "content"


def _edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_there_are_sixty_documents_and_more_in_all_formats(acme: Content) -> None:
    items = acme.items()

    assert len(items) >= 60
    assert {item.kind for item in items} == set(Kind)
    assert {Path(item.name).suffix for item in items} >= {
        ".csv",
        ".docx",
        ".eml",
        ".html",
        ".md",
        ".pdf",
        ".pptx",
        ".rtf",
        ".txt",
        ".xlsx",
    }


def test_every_title_is_a_persons_word(acme: Content) -> None:
    titles = {item.id: item.title for item in acme.items()}

    assert titles["wiki/handbook/leave/parental-leave"] == "Parental leave"
    assert titles["tickets/it/REQ-4417"] == "REQ-4417: VPN drops every 40 minutes in Suzhou"
    assert titles["files/handbook/benefits.docx"] == "benefits.docx"


def test_an_internal_comment_is_a_document_of_its_own_and_in_no_other(acme: Content) -> None:
    items = {item.id: item for item in acme.items()}

    assert b"2231" in items["tickets/customer/REQ-4471/internal-3"].data
    assert b"2231" not in items["tickets/customer/REQ-4471"].data


def test_a_moved_page_keeps_its_id_and_takes_the_rule_of_its_new_place(acme: Content) -> None:
    before, after = (
        {item.id: item for item in acme.items(revision)}["wiki/products/discount-ladder"]
        for revision in (1, 2)
    )

    assert after.place == "wiki/finance/discount-ladder"
    assert before.rule == rule_of([])
    assert after.rule != before.rule


def test_a_deleted_page_is_gone_and_a_later_one_is_there(acme: Content) -> None:
    first, second = ({item.id for item in acme.items(revision)} for revision in (1, 2))

    assert first - second == {"wiki/products/flowline-100"}
    assert second - first == {"wiki/finance/cash-forecast"}


def test_the_unreadable_share_is_unmappable(acme: Content) -> None:
    unmappable = {item.id for item in acme.items() if isinstance(item.rule, Unmappable)}

    assert unmappable == {"files/archive/store-plan-2009.txt"}


def test_a_revision_that_is_not_there_is_refused(acme: Content) -> None:
    with pytest.raises(ValueError, match="acme has no revision 3"):
        acme.items(3)


def test_two_tenants_share_titles_and_references_but_no_text() -> None:
    acme, globex = ({i.id: i for i in load_content(t).items()} for t in ("acme", "globex"))

    assert globex["wiki/handbook/parental-leave"].title == "Parental leave"
    assert b"REQ-4471" in globex["tickets/it/REQ-4471"].data
    assert not {item.data for item in acme.values()} & {item.data for item in globex.values()}


def test_a_layer_for_a_place_that_is_not_there_is_refused(folder: Path) -> None:
    _edit(folder / "acme/manifest.yaml", "  wiki/hr: {", "  wiki/hrr: {")

    with pytest.raises(ValueError, match="acme, manifest: there is no wiki/hrr"):
        load_content("acme", folder)


def test_a_layer_given_twice_is_refused(folder: Path) -> None:
    _edit(folder / "acme/manifest.yaml", "  wiki/hr: {", "  wiki/hr: {}\n  wiki/hr: {")

    with pytest.raises(ValueError, match=r"manifest\.yaml: a key appears twice"):
        load_content("acme", folder)


def test_a_move_of_a_page_that_is_not_there_is_refused(folder: Path) -> None:
    _edit(folder / "acme/manifest.yaml", "moved: wiki/products/", "moved: wiki/product/")

    with pytest.raises(ValueError, match="there is no wiki/product/discount-ladder"):
        load_content("acme", folder)


def test_a_page_without_a_title_is_refused(folder: Path) -> None:
    (folder / "acme/wiki/hr/new.md").write_text("No title.\n")

    with pytest.raises(ValueError, match="wiki/hr/new: a page begins with its title"):
        load_content("acme", folder)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("level: staff", "level: secret", "REQ-4417: the manifest has no level secret"),
        ("reporter: support", "reporter: sup", "REQ-4417: there is no sup"),
        ("reference: REQ-4417", "reference: REQ-1", "REQ-4417: the file holds REQ-1"),
        ("audience: internal", "audience: private", "comment 2, audience: private is not one of"),
        ("opened: 2026-10-19", "opened: soon", "opened: expected a date"),
        ("status: open", "state: open", "unknown state"),
    ],
)
def test_a_wrong_ticket_is_refused_by_name(folder: Path, old: str, new: str, message: str) -> None:
    _edit(folder / "acme/tickets/it/REQ-4417.yaml", old, new)

    with pytest.raises(ValueError, match=message):
        load_content("acme", folder)


def test_internal_comments_of_a_queue_without_readers_are_refused(folder: Path) -> None:
    _edit(folder / "acme/manifest.yaml", "  it: {allow: [g:directory/support]}\n", "")

    with pytest.raises(ValueError, match="who may read the internal comments of it"):
        load_content("acme", folder)
