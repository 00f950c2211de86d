"""A source is read from end to end, whatever happens on the way, and what is gone from it goes."""

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from cogni_application.indexing.ingest import INGEST, Progress
from cogni_application.lanes import LEASE, MAX_ATTEMPTS
from cogni_domain.access.rule import AccessRule, Unmappable
from cogni_domain.jobs import Job, Lane, LeasedJob
from cogni_domain.knowledge.extracted import Reason, Skipped
from cogni_domain.knowledge.source import ChangeEvent, ChangeKind
from cogni_kernel import (
    ConflictError,
    Err,
    HumanText,
    InvalidArgumentError,
    NotFoundError,
    TenantId,
    UpstreamError,
)
from cogni_testing import err, fake_principal, ok

if TYPE_CHECKING:
    from tests.indexing.conftest import Desk, Kit, Source

EVERYONE, HR = AccessRule.everyone(), AccessRule.any_of("g:wiki/hr")
STAFF, PEOPLE = fake_principal(id="staff"), fake_principal(id="people", groups=["wiki/hr"])
PAYLOAD = {"source": "wiki"}
DOWN = UpstreamError(HumanText("The source does not answer."))
REFUSED = InvalidArgumentError(HumanText("This page cannot be rendered."))


async def test_every_page_of_a_source_is_read_and_counted(kit: "Kit") -> None:
    source = kit.Source(**{f"p{n}": f"Parental leave, part {n}." for n in range(7)})
    source.edit("p3", rule=Unmappable("Unclear."))
    desk = kit.Desk(source)

    await desk.ingest()

    assert desk.progress[-1] == Progress(seen=7, indexed=6, skipped=1)
    assert len(await desk.found("parental leave", STAFF)) == 6
    assert ok(await desk.documents.corpora(desk.corpus.tenant_id))[0].indexed_through is not None
    source.edit("p1", rule=HR)
    source.edit("p2", text="Parental leave, edited.")
    del source.pages["p4"]
    await desk.ingest()
    assert desk.progress[-1] == Progress(
        6, indexed=1, relabelled=1, unchanged=3, skipped=1, removed=1
    )
    assert len(await desk.found("parental leave", STAFF)) == 4


async def test_an_edit_embeds_that_document_alone_and_a_new_rule_embeds_nothing(
    kit: "Kit",
) -> None:
    source = kit.Source(a="First leave.", b="Second leave.", c="Third leave.")
    desk = kit.Desk(source)
    await desk.ingest()
    desk.embedder.embedded.clear()

    source.edit("a", rule=HR)
    await desk.ingest()
    assert desk.embedder.embedded == []
    assert await desk.found("first leave", STAFF) == ["b", "c"]

    source.edit("b", text="Second leave, edited.")
    await desk.ingest()
    assert desk.embedder.embedded == ["b\nSecond leave, edited."]


async def test_a_deletion_counts_before_any_index_job_has_run(kit: "Kit") -> None:
    source = kit.Source(a="First leave.", b="Second leave.")
    desk = kit.Desk(source)
    await desk.ingest()

    gone = ChangeEvent(ChangeKind.DELETED, "a")
    ok(await desk.indexing.on_change(desk.corpus, source, gone))

    assert await desk.found("leave", STAFF) == ["b"]
    assert len(desk.indexed()[0]) == 2, "the index still holds it"
    await desk.worker.work_off()
    assert len(desk.indexed()[0]) == 1
    ok(await desk.indexing.on_change(desk.corpus, source, gone))


@pytest.mark.parametrize("kind", [ChangeKind.MOVED, ChangeKind.ACL_CHANGED, ChangeKind.EDITED])
async def test_a_move_or_a_new_rule_is_mapped_anew_and_counts_at_once(
    kit: "Kit", kind: ChangeKind
) -> None:
    source = kit.Source(a="First leave <x.txt:attached leave>", b="Second leave.")
    desk = kit.Desk(source)
    await desk.ingest()
    embedded = len(desk.embedder.embedded)

    source.edit("a", rule=HR)
    ok(
        await desk.indexing.on_change(
            desk.corpus, source, ChangeEvent(kind, "a", source.listed("a"))
        )
    )

    assert await desk.found("leave", STAFF) == ["b"]
    assert sorted(await desk.found("leave", PEOPLE)) == ["a", "b", "x.txt"]
    await desk.worker.work_off()
    assert len(desk.embedder.embedded) == embedded


async def test_two_sources_of_one_corpus_leave_each_other_alone(kit: "Kit") -> None:
    wiki, files = kit.Source("wiki", a="First leave."), kit.Source("wiki:files", a="Second leave.")
    desk = kit.Desk(wiki, files)
    await desk.ingest()
    assert len(desk.state.documents) == 2

    del wiki.pages["a"]
    await desk.ingest()

    assert set(desk.standing()["documents"]) == {"wiki%3Afiles:a"}
    assert len(await desk.found("leave", STAFF)) == 1


async def test_a_folder_that_changes_while_it_is_read_is_right_after_the_next_time(
    kit: "Kit",
) -> None:
    source = kit.Source(**{f"p{n}": f"Leave, part {n}." for n in range(6)})
    desk = kit.Desk(source)

    def meanwhile(name: str) -> None:
        if name == "p1":
            source.pages.pop("p2", None)
            source.pages["p9"] = kit.Page("Late leave.")
            source.pages["a0"] = kit.Page("Early leave.")
            source.edit("p0", text="Changed leave.")
            source.between = lambda _: None

    source.between = meanwhile
    await desk.ingest()
    assert "wiki:p2" not in desk.standing()["documents"]
    await desk.ingest()

    expected = {f"wiki:{name}" for name in source.pages}
    assert set(desk.standing()["documents"]) == expected
    assert len(await desk.found("leave", STAFF)) == len(expected)
    assert "Changed leave." in repr(desk.standing())


async def test_gaps_of_what_is_gone_are_cleared_though_it_was_never_indexed(kit: "Kit") -> None:
    source = kit.Source(
        a=kit.Page("x", skipped=Skipped(Reason.CORRUPT, "Save it anew.")),
        b="Leave <x.txt:!secret>",
    )
    desk = kit.Desk(source)
    await desk.ingest()
    assert desk.standing()["gaps"] == [("wiki:a", "corrupt"), ("wiki:b!1", "encrypted")]

    source.pages.clear()
    await desk.ingest()

    assert desk.standing() == {"documents": {}, "gaps": [], "indexes": [[], []]}


@pytest.mark.parametrize("broken", ["bug", "refused"])
async def test_a_document_that_cannot_be_read_is_listed_and_holds_up_no_other(
    kit: "Kit", broken: str
) -> None:
    source = kit.Source(a="First leave.", b="Second leave.", c="Third leave.")
    desk = kit.Desk(source)
    await desk.ingest()
    changes = {"bug": True} if broken == "bug" else {"error": REFUSED}
    source.edit("b", text="New leave.", **changes)
    source.edit("c", text="Third leave, edited.")
    await desk.ingest()

    assert desk.standing()["gaps"] == [("wiki:b", "unreadable")]
    assert "Third leave, edited." in repr(desk.standing())
    assert "Second leave." in repr(desk.standing()), "it stays as it was"
    assert desk.dead() == []
    source.edit("b", bug=False, error=None)
    await desk.ingest()
    assert desk.standing()["gaps"] == []


async def test_a_source_that_does_not_answer_is_tried_again_and_then_the_rest_is_read(
    kit: "Kit",
) -> None:
    source = kit.Source(a=kit.Page("First leave.", error=DOWN), b="Second leave.")
    desk = kit.Desk(source)
    await desk.request()
    for attempt in range(MAX_ATTEMPTS - 1):
        await desk.worker.work_off()
        assert desk.state.documents == {}, attempt
        desk.clock.advance(timedelta(seconds=2.0 ** (attempt + 1)))
    await desk.worker.work_off()

    assert set(desk.standing()["documents"]) == {"wiki:b"}
    assert desk.standing()["gaps"] == [("wiki:a", "unreadable")]
    assert desk.dead() == []


async def test_an_ingest_is_asked_for_once(kit: "Kit") -> None:
    desk = kit.Desk(kit.Source(a="x"))

    assert [await desk.request(), await desk.request()] == [True, False]
    await desk.worker.work_off()
    assert await desk.request() is True


async def test_an_ingest_of_a_source_or_corpus_that_is_gone_says_so(kit: "Kit") -> None:
    desk = kit.Desk(kit.Source(a="x"))
    await desk.request()
    desk.sources.clear()
    await desk.worker.work_off()
    assert "not connected any more" in desk.dead()[0]

    elsewhere = Job(INGEST, TenantId("globex"), "k", {"source": "wiki", "corpus_id": "handbook"})
    (result,) = await desk.indexing.ingest([LeasedJob("j", elsewhere, 1, None, "1")])
    err(result, NotFoundError)


async def test_who_lost_the_job_stops_at_the_next_document(kit: "Kit") -> None:
    source = kit.Source(**{f"p{n}": f"Leave, part {n}." for n in range(6)})
    desk = kit.Desk(source)
    await desk.request()
    mine = await desk.leased(INGEST)

    def taken_over(_: str) -> None:
        desk.clock.advance(LEASE)
        desk.state.jobs[mine.id].attempts += 1

    source.between = taken_over
    (result,) = await desk.indexing.ingest([mine])

    err(result, ConflictError)
    assert source.reads == ["p0"]


async def test_an_ingest_resumes_at_its_checkpoint(kit: "Kit") -> None:
    source = kit.Source(**{f"p{n}": f"Leave, part {n}." for n in range(7)})
    desk = kit.Desk(source)
    await desk.request()

    def killed_at(name: str) -> None:
        if name == "p5":
            source.between = lambda _: None
            raise kit.Killed

    source.between = killed_at
    with pytest.raises(kit.Killed):
        await desk.worker.work_off()
    source.reads.clear()
    desk.clock.advance(LEASE)
    desk.start_process()
    await desk.worker.work_off()

    assert source.reads == ["p5", "p6"]
    assert len(desk.state.documents) == 7


def story(kit: "Kit") -> "Source":
    return kit.Source(
        plain="First leave.",
        mail=kit.Page("Second leave <a.txt:attached leave <b.txt:deep leave>>", HR),
        half=kit.Page("Third leave.", missing=("page 2",)),
        odd=kit.Page("Fourth leave.", Unmappable("Unclear.")),
    )


def change(source: "Source") -> None:
    source.edit("plain", rule=HR)
    source.edit("mail", text="Second leave, edited <a.txt:attached leave>", rule=EVERYONE)
    source.edit("half", skipped=Skipped(Reason.CORRUPT, "Save it anew."))
    source.edit("odd", rule=EVERYONE)
    source.pages["late"] = type(source.pages["odd"])("Fifth leave <c.txt:new leave>")


async def read_and_change(kit: "Kit", desk: "Desk", source: "Source") -> None:
    """Ingest, change the source, ingest; a process that is killed is followed by another one."""
    for is_changed in (False, True):
        if is_changed:
            change(source)
        while True:
            try:
                await desk.request()
                await desk.worker.work_off()
                break
            except kit.Killed:
                desk.clock.advance(LEASE * 2)
                desk.start_process()


async def calls_of_the_story(kit: "Kit") -> tuple[int, object]:
    source = story(kit)
    desk, calls = kit.Desk(source), 0

    def count(_: str) -> None:
        nonlocal calls
        calls += 1

    desk.watch = count
    await read_and_change(kit, desk, source)
    return calls, desk.standing()


async def test_a_process_killed_at_any_call_is_followed_by_one_that_comes_to_the_same_end(
    kit: "Kit",
) -> None:
    calls, expected = await calls_of_the_story(kit)
    assert calls > 150

    for number in range(calls):
        source = story(kit)
        desk, left = kit.Desk(source), number

        def kill(called: str, desk: "Desk" = desk) -> None:
            nonlocal left
            left -= 1
            if left == -1:
                raise kit.Killed(called)

        desk.watch = kill
        await read_and_change(kit, desk, source)

        assert desk.standing() == expected, f"killed at call {number}"
        assert desk.dead() == []


async def test_a_call_that_fails_once_anywhere_costs_time_and_nothing_else(kit: "Kit") -> None:
    calls, expected = await calls_of_the_story(kit)

    for number in range(calls):
        source = story(kit)
        desk, left = kit.Desk(source), number
        ok(await desk.documents.put_corpus(desk.corpus))

        def fail(called: str) -> object:
            nonlocal left
            left -= called.startswith("before")
            return Err(DOWN) if left == -1 and called.startswith("before") else None

        desk.watch = fail
        for is_changed in (False, True):
            if is_changed:
                change(source)
            for _ in range(4):
                await desk.indexing.request(desk.corpus.tenant_id, desk.corpus.id, "wiki", PAYLOAD)
                await desk.worker.work_off()
                desk.clock.advance(timedelta(hours=1))

        assert desk.standing() == expected, f"call {number} failed"
        assert desk.dead() == []


async def test_a_process_killed_again_and_again_still_comes_to_the_end(kit: "Kit") -> None:
    _, expected = await calls_of_the_story(kit)
    source = story(kit)
    desk, so_far, patience = kit.Desk(source), 0, 17

    def kill(called: str) -> None:
        nonlocal so_far, patience
        so_far += 1
        if so_far == patience:
            so_far, patience = 0, patience + 3
            raise kit.Killed(called)

    desk.watch = kill
    await read_and_change(kit, desk, source)

    assert desk.standing() == expected


async def test_a_lane_is_that_of_indexing(kit: "Kit") -> None:
    desk = kit.Desk(kit.Source(a="Leave."))
    await desk.request()
    assert ok(await desk.queue.depth(Lane.INDEXING)) == 1
    await desk.worker.work_off()
    assert ok(await desk.queue.depth(Lane.INDEXING)) == 0
