"""A document is taken in with its rule, whole, or it is on the gap list."""

from typing import TYPE_CHECKING

import pytest

from cogni_application.indexing import unpacking
from cogni_application.indexing.intake import INDEX, Taken, qualified
from cogni_application.indexing.unpacking import MAX_PARTS
from cogni_domain.access.rule import AccessRule, Unmappable
from cogni_domain.knowledge.extracted import Reason, Skipped
from cogni_kernel import HumanText, InvalidArgumentError, UpstreamError
from cogni_testing import err, fake_principal, ok

if TYPE_CHECKING:
    from tests.indexing.conftest import Desk, Kit, Source

EVERYONE = AccessRule.everyone()
HR = AccessRule.any_of("g:wiki/hr")
STAFF, PEOPLE = fake_principal(id="staff"), fake_principal(id="people", groups=["wiki/hr"])
UNCLEAR = Unmappable("The page's restrictions cannot be read.")


async def take(desk: "Desk", source: "Source", name: str) -> Taken:
    ok(await desk.documents.put_corpus(desk.corpus))
    return ok(await desk.intake.take(desk.corpus, source, source.listed(name)))


def gaps(desk: "Desk") -> list[tuple[str, str]]:
    return [tuple(row) for row in desk.standing()["gaps"]]


async def test_a_document_is_taken_in_once_and_then_unchanged(kit: "Kit") -> None:
    source = kit.Source(leave="Parental leave is long.")
    desk = kit.Desk(source)

    taken = [await take(desk, source, "leave") for _ in range(3)]

    assert taken == [Taken.INDEXED, Taken.UNCHANGED, Taken.UNCHANGED]
    assert source.reads == ["leave"]
    assert [row.job.kind for row in desk.state.jobs.values()] == [INDEX]


async def test_what_cannot_be_mapped_indexes_nothing_and_removes_what_was_there(
    kit: "Kit",
) -> None:
    source = kit.Source(leave="Parental leave <a.txt:attached leave>")
    desk = kit.Desk(source)
    await desk.ingest()
    assert await desk.found("parental leave", STAFF)

    source.edit("leave", rule=UNCLEAR)
    assert await take(desk, source, "leave") is Taken.SKIPPED

    assert await desk.found("parental leave", STAFF) == []
    assert desk.state.documents == {}
    assert gaps(desk) == [("wiki:leave", "unmappable")]
    await desk.worker.work_off()
    assert desk.indexed() == [[], []]

    source.edit("leave", rule=EVERYONE)
    await desk.ingest()
    assert gaps(desk) == []
    assert len(await desk.found("leave", STAFF)) == 2


async def test_what_is_skipped_is_listed_with_its_reason_and_removed(kit: "Kit") -> None:
    source = kit.Source(leave="Parental leave.")
    desk = kit.Desk(source)
    await take(desk, source, "leave")

    source.edit("leave", skipped=Skipped(Reason.ENCRYPTED, "Remove the password."))
    assert await take(desk, source, "leave") is Taken.SKIPPED

    assert desk.state.documents == {}
    ((gap,),) = desk.state.gaps.values()
    assert (gap.reason, gap.explanation) == ("encrypted", "Remove the password.")


async def test_a_part_that_is_missing_is_listed_and_the_rest_is_indexed(kit: "Kit") -> None:
    source = kit.Source(leave=kit.Page("Parental leave.", missing=("page 7",)))
    desk = kit.Desk(source)

    assert await take(desk, source, "leave") is Taken.INDEXED

    assert gaps(desk) == [("wiki:leave", "partial")]
    assert len(desk.state.documents) == 1
    source.edit("leave", missing=())
    await take(desk, source, "leave")
    assert gaps(desk) == []


async def test_what_is_gone_when_it_is_read_is_removed(kit: "Kit") -> None:
    source = kit.Source(leave="Parental leave.")
    desk = kit.Desk(source)
    await take(desk, source, "leave")
    source.edit("leave", text="new")
    listed = source.listed("leave")
    del source.pages["leave"]

    taken = ok(await desk.intake.take(desk.corpus, source, listed))

    assert taken is Taken.GONE
    assert (desk.state.documents, gaps(desk)) == ({}, [])


async def test_an_attachment_is_a_document_under_its_parents_rule_and_follows_it(
    kit: "Kit",
) -> None:
    source = kit.Source(
        mail=kit.Page("Dear all <a.txt:exceptions of leave <b.txt:deep leave>>", HR)
    )
    desk = kit.Desk(source)
    await desk.ingest()
    assert sorted(await desk.found("exceptions leave", PEOPLE)) == ["a.txt", "b.txt"]
    assert await desk.found("exceptions leave", STAFF) == []
    embedded = len(desk.embedder.embedded)

    source.edit("mail", rule=EVERYONE)
    assert await take(desk, source, "mail") is Taken.RELABELLED
    await desk.worker.work_off()
    assert sorted(await desk.found("exceptions leave", STAFF)) == ["a.txt", "b.txt"]

    source.edit("mail", rule=AccessRule.any_of())
    await take(desk, source, "mail")
    assert await desk.found("exceptions leave", PEOPLE) == []
    assert len(desk.embedder.embedded) == embedded, "a rule changed, no text did"

    del source.pages["mail"]
    await desk.ingest()
    assert desk.state.documents == {}
    assert desk.indexed() == [[], []]


async def test_attachments_that_a_new_version_has_no_more_are_removed(kit: "Kit") -> None:
    source = kit.Source(
        mail="Dear all <a.txt:first leave <c.txt:inner leave>> <b.txt:second leave>"
    )
    desk = kit.Desk(source)
    await desk.ingest()
    assert len(desk.state.documents) == 4
    ids = {d.source_id: d.id for d in desk.state.documents.values()}

    source.edit("mail", text="Dear all <a.txt:first leave>")
    await desk.ingest()

    assert set(desk.standing()["documents"]) == {"wiki:mail", "wiki:mail!1"}
    assert {d.id for d in desk.state.documents.values()} == {ids["wiki:mail"], ids["wiki:mail!1"]}
    assert [row[0] for row in desk.indexed()[0]] == ["wiki:mail", "wiki:mail!1"]


async def test_an_attachment_that_cannot_be_read_is_listed_under_its_parent(kit: "Kit") -> None:
    source = kit.Source(mail="Dear all <a.txt:!secret> <b.txt:open>")
    desk = kit.Desk(source)
    await desk.ingest()

    assert gaps(desk) == [("wiki:mail!1", "encrypted")]
    assert set(desk.standing()["documents"]) == {"wiki:mail", "wiki:mail!2"}
    source.edit("mail", text="Dear all <b.txt:open>")
    await desk.ingest()
    assert gaps(desk) == []


async def test_attachments_are_bounded_in_depth_and_number(kit: "Kit") -> None:
    deep = "one <a.txt:two <b.txt:three <c.txt:four>>>"
    wide = "many " + "".join(f"<{n}.txt:file {n}>" for n in range(MAX_PARTS + 5))
    source = kit.Source(deep=deep, wide=wide)
    desk = kit.Desk(source)
    await desk.ingest(index=False)

    documents = desk.standing()["documents"]
    assert {s for s in documents if s.startswith("wiki:deep")} == {
        "wiki:deep",
        "wiki:deep!1",
        "wiki:deep!1!1",
    }
    assert sum(s.startswith("wiki:wide") for s in documents) == MAX_PARTS
    listed = gaps(desk)
    assert ("wiki:deep!1!1!1", "bounded") in listed
    assert len(listed) == 1 + 6


async def test_what_files_in_files_weigh_together_is_bounded(
    kit: "Kit", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unpacking, "MAX_BYTES", 70)
    source = kit.Source(
        mail=f"two <a.txt:with <x.txt:{'x' * 20}>> <b.txt:with <y.txt:{'y' * 9}>> <c.txt:alone>"
    )
    desk = kit.Desk(source)
    await desk.ingest(index=False)

    documents = desk.standing()["documents"]
    expected = {f"wiki:mail{place}" for place in ("", "!1", "!2", "!3", "!2!1")}
    assert set(documents) == expected
    assert gaps(desk) == [("wiki:mail!1", "bounded")]


async def test_a_rule_that_is_narrowed_counts_before_its_content_can_be_read(kit: "Kit") -> None:
    source = kit.Source(leave="Parental leave.")
    desk = kit.Desk(source)
    await desk.ingest()
    broken = UpstreamError(HumanText("The source does not answer."))
    source.edit("leave", rule=HR, text="new", error=broken)

    err(await desk.intake.take(desk.corpus, source, source.listed("leave")), UpstreamError)

    assert await desk.found("parental leave", STAFF) == []
    assert await desk.found("parental leave", PEOPLE) == ["leave"]


async def test_an_error_of_the_source_changes_nothing(kit: "Kit") -> None:
    source = kit.Source(leave="Parental leave.")
    desk = kit.Desk(source)
    await desk.ingest()
    before = desk.standing()
    source.edit("leave", error=InvalidArgumentError(HumanText("Not today.")))

    err(await desk.intake.take(desk.corpus, source, source.listed("leave")), InvalidArgumentError)

    assert desk.standing() == before


@pytest.mark.parametrize(
    "name",
    [
        "a!1",
        "a%211",
        "../../etc/passwd",
        "a\nb",
        "\udc80",
        "日本.txt",
        "'; DROP TABLE",
        "a:b",
        " ",
        "%",
    ],
)
async def test_a_hostile_name_is_a_name_like_any_other(kit: "Kit", name: str) -> None:
    source = kit.Source(**{name: "Parental leave.", "a": "Other leave <x.txt:attached leave>"})
    desk = kit.Desk(source)
    for _ in range(2):
        await desk.ingest()

    assert len(desk.state.documents) == 3
    assert len(await desk.found("leave", STAFF)) == 3
    for document in desk.state.documents.values():
        document.source_id.encode()
        document.title.encode()
    del source.pages[name]
    await desk.ingest()
    assert set(desk.standing()["documents"]) == {"wiki:a", "wiki:a!1"}


def test_no_two_places_of_two_sources_share_an_id(kit: "Kit") -> None:
    names = ["a", "a!1", "a%211", "b:a", "%", "%25", "!", "\udc80", "\\udc80", "a b", "", "é"]
    sources = [kit.Source(name) for name in ("w", "w:b", "w%3Ab", "w!", "W")]

    ids = [qualified(source, name) for source in sources for name in names]

    assert len(set(ids)) == len(ids)
    assert not any("!" in place for place in ids)
    for source in sources:
        mine = [i for i in ids if i.startswith(qualified(source, ""))]
        assert len(mine) == len(names)
