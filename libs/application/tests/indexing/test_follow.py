"""A source that is followed: access first, nothing embedded that need not be, nothing brought back by what is late."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import pytest

from cogni_application.indexing import follow
from cogni_application.indexing.follow import SourceFollower
from cogni_application.indexing.ingest import INGEST
from cogni_domain.access.rule import AccessRule
from cogni_domain.knowledge.extracted import ExtractedDocument, Skipped
from cogni_domain.knowledge.source import ChangeEvent, ChangeKind, SourceDocument, SourcePage
from cogni_domain.ports.connector import ConnectorPort
from cogni_kernel import Err, HumanText, Ok, Result, UpstreamError
from cogni_testing import fake_principal, ok

if TYPE_CHECKING:
    from tests.indexing.conftest import Desk, Kit, Source

HR = AccessRule.any_of("g:wiki/hr")
STAFF, PEOPLE = fake_principal(id="staff"), fake_principal(id="people", groups=["wiki/hr"])
EDITED, DELETED = ChangeKind.EDITED, ChangeKind.DELETED
MOVED, ACL_CHANGED = ChangeKind.MOVED, ChangeKind.ACL_CHANGED


@dataclass
class Told(ConnectorPort):
    """A source that tells what a test puts into `events`; None ends it. `gates` hold reading up."""

    source: "Source"
    events: "asyncio.Queue[ChangeEvent | None]" = field(default_factory=asyncio.Queue)
    gates: dict[str, asyncio.Event] = field(default_factory=dict)
    begun: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def id(self) -> str:
        return self.source.id

    async def enumerate(self, cursor: str | None) -> Result[SourcePage]:
        return await self.source.enumerate(cursor)

    async def extract(self, document: SourceDocument) -> Result[ExtractedDocument | Skipped]:
        content = await self.source.extract(document)
        self.begun.set()
        if (gate := self.gates.get(document.source_id)) is not None:
            await gate.wait()
        return content

    async def changes(self) -> AsyncIterator[ChangeEvent]:
        while (event := await self.events.get()) is not None:
            yield event

    def tell(self, kind: ChangeKind, name: str) -> None:
        document = None if kind is DELETED else self.source.listed(name)
        self.events.put_nowait(ChangeEvent(kind, name, document))

    def tell_moved(self, before: str, after: str, name: str) -> None:
        self.source.pages[after] = self.source.pages.pop(before)
        now = replace(self.source.listed(after), name=name)
        self.events.put_nowait(ChangeEvent(MOVED, before, now, was_named=before))


async def followed(kit: "Kit", **pages: str) -> "tuple[Desk, Told, asyncio.Task[None]]":
    source = kit.Source(**pages)
    desk = kit.Desk(source)
    await desk.ingest()
    desk.embedder.embedded.clear()
    told = Told(source)
    follower = SourceFollower(desk.indexing, desk.corpus, told)
    return desk, told, asyncio.create_task(follower.follow())


async def until_applied(desk: "Desk", told: Told, following: "asyncio.Task[None]") -> None:
    told.events.put_nowait(None)
    await asyncio.wait_for(following, 10)
    await desk.worker.work_off()


async def test_a_deletion_a_move_and_a_new_rule_are_followed_without_embedding(kit: "Kit") -> None:
    desk, told, following = await followed(
        kit,
        a="First leave <x.txt:attached leave>",
        b="Second leave.",
        c="Third leave.",
        d="Fourth.",
    )
    told.source.edit("b", rule=HR)
    told.tell(ACL_CHANGED, "b")
    told.tell_moved("a", "hr/a", "a")
    del told.source.pages["c"]
    told.tell(DELETED, "c")

    await until_applied(desk, told, following)

    assert desk.embedder.embedded == []
    assert set(desk.standing()["documents"]) == {"wiki:hr/a", "wiki:hr/a!1", "wiki:b", "wiki:d"}
    assert await desk.found("leave", STAFF) == ["a", "x.txt"]
    assert sorted(await desk.found("leave", PEOPLE)) == ["a", "b", "x.txt"]


async def test_a_move_puts_a_document_under_the_rule_of_its_new_place(kit: "Kit") -> None:
    desk, told, following = await followed(kit, a="First leave <x.txt:attached leave>")
    told.source.edit("a", rule=HR)
    told.tell_moved("a", "hr/a", "a")

    await until_applied(desk, told, following)

    assert await desk.found("leave", STAFF) == []
    assert sorted(await desk.found("leave", PEOPLE)) == ["a", "x.txt"]
    assert desk.embedder.embedded == []
    await desk.ingest()
    assert desk.embedder.embedded == [], "the sweep finds nothing to repair"


async def test_a_document_that_is_called_by_its_name_is_searched_by_the_new_one(kit: "Kit") -> None:
    desk, told, following = await followed(kit, draft="How to claim a bicycle.")
    told.tell_moved("draft", "travel", "travel")

    await until_applied(desk, told, following)

    assert desk.embedder.embedded == ["travel\nHow to claim a bicycle."]
    assert await desk.found("travel", STAFF) == ["travel"]


async def test_a_move_onto_another_document_takes_its_place(kit: "Kit") -> None:
    desk, told, following = await followed(kit, a="First leave.", b="Second leave.")
    told.tell_moved("a", "b", "b")

    await until_applied(desk, told, following)

    assert set(desk.standing()["documents"]) == {"wiki:b"}
    assert "First leave." in repr(desk.standing())
    assert "Second leave." not in repr(desk.standing())


async def test_a_deletion_does_not_wait_for_a_file_that_is_being_read(kit: "Kit") -> None:
    desk, told, following = await followed(kit, a="First leave.", b="Second leave.")
    told.gates["a"] = asyncio.Event()
    told.source.edit("a", text="First leave, edited.")
    told.tell(EDITED, "a")
    await asyncio.wait_for(told.begun.wait(), 10)

    told.tell(DELETED, "b")
    async with asyncio.timeout(10):
        while "wiki:b" in desk.standing()["documents"]:
            await asyncio.sleep(0)

    told.gates["a"].set()
    await until_applied(desk, told, following)
    assert await desk.found("leave", STAFF) == ["a"]


@pytest.mark.parametrize("kind", [DELETED, ACL_CHANGED])
async def test_what_is_read_too_late_brings_nothing_back(kit: "Kit", kind: ChangeKind) -> None:
    desk, told, following = await followed(kit, a="First leave.", b="Second leave.")
    told.gates["a"] = asyncio.Event()
    told.source.edit("a", text="First leave, edited.")
    told.tell(EDITED, "a")
    await asyncio.wait_for(told.begun.wait(), 10)

    told.source.edit("a", rule=HR)
    told.tell(kind, "a")
    await asyncio.sleep(0.05)
    assert await desk.found("leave", STAFF) == ["b"], "at once"
    told.gates["a"].set()
    await until_applied(desk, told, following)

    assert await desk.found("leave", STAFF) == ["b"]


async def test_a_source_that_does_not_answer_is_read_again_and_listed_at_last(
    kit: "Kit", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(follow, "PAUSE_S", 0)
    desk, told, following = await followed(kit, a="First leave.", b="Second leave.")
    down = UpstreamError(HumanText("The source does not answer."))
    told.source.edit("a", text="Edited.", error=down)
    told.source.edit("b", text="Edited leave.", bug=True)
    told.tell(EDITED, "a")
    told.tell(EDITED, "b")

    await until_applied(desk, told, following)

    assert desk.standing()["gaps"] == [("wiki:a", "unreadable"), ("wiki:b", "unreadable")]
    assert told.source.reads.count("a") == 1 + follow.ATTEMPTS


async def test_a_store_that_is_down_loses_no_deletion(
    kit: "Kit", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(follow, "PAUSE_S", 0)
    desk, told, following = await followed(kit, a="First leave.", b="Second leave.")
    failures = [UpstreamError(HumanText("Down."))] * 3

    def watch(called: str) -> object:
        return Err(failures.pop()) if called == "before delete" and failures else None

    desk.watch = watch
    told.tell(DELETED, "a")

    await until_applied(desk, told, following)

    assert failures == []
    assert set(desk.standing()["documents"]) == {"wiki:b"}


async def test_what_is_heard_during_an_ingest_counts_more_than_its_listing(kit: "Kit") -> None:
    source = kit.Source(**{f"p{n}": f"Leave, part {n}." for n in range(4)})
    desk = kit.Desk(source)
    await desk.ingest()
    stale = {name: source.listed(name) for name in source.pages}

    async def enumerated(cursor: str | None) -> object:
        """The listing of before, as a slow source gives it; what is heard comes right after it."""
        await asyncio.sleep(0)
        for event in heard:
            ok(await desk.indexing.on_change(desk.corpus, source, event))
        return Ok(SourcePage(list(stale.values()), None))

    del source.pages["p0"]
    source.edit("p1", rule=HR)
    source.edit("p2", text="Leave, edited.")
    source.pages["p9"] = kit.Page("Leave, new.")
    heard = [
        ChangeEvent(DELETED, "p0"),
        ChangeEvent(ACL_CHANGED, "p1", source.listed("p1")),
        ChangeEvent(EDITED, "p2", source.listed("p2")),
        ChangeEvent(EDITED, "p9", source.listed("p9")),
    ]
    source.enumerate = enumerated  # type: ignore[method-assign, assignment]

    await desk.request()
    ok((await desk.indexing.ingest([await desk.leased(INGEST)]))[0])

    standing = desk.standing()["documents"]
    assert set(standing) == {"wiki:p1", "wiki:p2", "wiki:p3", "wiki:p9"}
    assert await desk.found("leave", PEOPLE) != await desk.found("leave", STAFF)
    assert "Leave, edited." in repr(standing)


async def test_a_thousand_new_rules_and_deletions_count_at_once_in_few_jobs(kit: "Kit") -> None:
    pages = {f"p{n:04}": f"Leave, part {n}." for n in range(1000)}
    source = kit.Source(**pages)
    source.at_once = 500
    desk = kit.Desk(source)
    await desk.ingest()
    desk.embedder.embedded.clear()
    for name in pages:
        source.edit(name, rule=HR)
    rules = [ChangeEvent(ACL_CHANGED, name, source.listed(name)) for name in pages]

    ok(await desk.indexing.on_changes(desk.corpus, source, rules))

    assert await desk.found("leave", STAFF) == []
    assert len(desk.state.jobs) == 2
    await desk.worker.work_off()
    assert await desk.found("leave", PEOPLE) != []
    gone = [ChangeEvent(DELETED, name) for name in pages]
    ok(await desk.indexing.on_changes(desk.corpus, source, gone))
    assert await desk.found("leave", PEOPLE) == []
    assert len(desk.state.jobs) == 2
    await desk.worker.work_off()
    assert desk.indexed() == [[], []]
    assert desk.embedder.embedded == []
