"""Both indexes follow the database, whatever the jobs' order and fate."""

from typing import TYPE_CHECKING, Any

import pytest

from cogni_application.indexing.index import CHANGED, IndexWriter
from cogni_application.indexing.intake import INDEX
from cogni_application.indexing.standing import RELABEL, REMOVE
from cogni_domain.access.rule import AccessRule
from cogni_domain.jobs import Job, LeasedJob
from cogni_domain.knowledge.corpus import Corpus
from cogni_kernel import (
    ConflictError,
    CorpusId,
    Err,
    HumanText,
    NotFoundError,
    TenantId,
    UpstreamError,
)
from cogni_testing import HashEmbedder, err, fake_principal, ok

if TYPE_CHECKING:
    from tests.indexing.conftest import Desk, Kit

STAFF = fake_principal(id="staff")
DOWN = Err(UpstreamError(HumanText("The index does not answer.")))


def job(desk: "Desk", kind: str, name: str, corpus: str = "handbook") -> LeasedJob:
    found = [d for d in desk.state.documents.values() if d.source_id == f"wiki:{name}"]
    document = str(found[0].id) if found else name
    payload = {"document_id": document, "corpus_id": corpus}
    return LeasedJob(name, Job(kind, desk.corpus.tenant_id, name, payload), 1, None, "1")


async def read(kit: "Kit", **pages: Any) -> "Desk":
    desk = kit.Desk(kit.Source(**pages))
    await desk.ingest(index=False)
    return desk


async def test_passages_of_a_batch_are_embedded_together(kit: "Kit") -> None:
    desk = await read(kit, a="First leave.", b="Second leave.")
    embedded = []
    whole = desk.embedder.embed

    async def counted(texts: Any) -> Any:
        embedded.append(len(texts))
        return await whole(texts)

    desk.embedder.embed = counted  # type: ignore[method-assign]
    await desk.worker.work_off()

    assert embedded == [2]
    assert len(await desk.found("leave", STAFF)) == 2


async def test_one_poisonous_document_fails_no_other_of_its_batch(kit: "Kit") -> None:
    pages = {f"p{n:02}": f"Leave, part {n}." for n in range(31)}
    desk = await read(kit, **pages, poison="This is POISON.")
    for _ in range(30):
        await desk.worker.work_off()
        for row in desk.state.jobs.values():
            row.not_before = None

    assert len(desk.indexed()[0]) == len(desk.indexed()[1]) == 31
    assert len(desk.dead()) == 1
    assert ok(await desk.queue.depth(desk.worker.lane)) == 0


async def test_a_job_may_come_late_twice_and_in_any_order(kit: "Kit") -> None:
    desk = await read(kit, a="First leave.", b="Second leave.")
    await desk.worker.work_off()
    expected = desk.indexed()

    for kind in (REMOVE, INDEX, RELABEL, INDEX):
        handler = {
            INDEX: desk.writer.index,
            RELABEL: desk.writer.relabel,
            REMOVE: desk.writer.remove,
        }[kind]
        for result in await handler([job(desk, kind, "a"), job(desk, kind, "a")]):
            ok(result)
    ok((await desk.writer.index([job(desk, INDEX, "never")]))[0])
    ok((await desk.writer.relabel([job(desk, RELABEL, "never")]))[0])

    assert desk.indexed() == expected


async def test_what_is_gone_leaves_the_indexes_by_any_job(kit: "Kit") -> None:
    for kind in (INDEX, RELABEL):
        desk = await read(kit, a="First leave.")
        await desk.worker.work_off()
        late = job(desk, kind, "a")
        ok(await desk.intake.standing.remove(list(desk.state.documents.values())))

        handler = desk.writer.index if kind == INDEX else desk.writer.relabel
        ok((await handler([late]))[0])

        assert desk.indexed() == [[], []]


@pytest.mark.parametrize("meanwhile", ["relabelled", "edited", "deleted"])
async def test_what_changed_while_it_was_written_is_written_again(
    kit: "Kit", meanwhile: str
) -> None:
    desk = await read(kit, a="First leave.")
    source = desk.sources["wiki"]
    if meanwhile == "relabelled":
        source.edit("a", rule=AccessRule.any_of("g:wiki/hr"))
    else:
        source.edit("a", text="Other leave.")

    async def change(desk: "Desk") -> None:
        if meanwhile == "deleted":
            ok(await desk.intake.standing.remove(list(desk.state.documents.values())))
        else:
            ok(await desk.intake.take(desk.corpus, source, source.listed("a")))

    whole, calls = desk.embedder.embed, 0

    async def and_meanwhile(texts: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == 1:
            await change(desk)
            await kit_worker(desk).work_off()
        return await whole(texts)

    desk.embedder.embed = and_meanwhile  # type: ignore[method-assign]
    late = job(desk, INDEX, "a")
    (result,) = await desk.writer.index([late])

    assert result == Err(UpstreamError(CHANGED))
    ok((await desk.writer.index([late]))[0])
    expected = [
        ("wiki:a", c.text, sorted(c.readers))
        for d in desk.state.documents.values()
        for c in ok(await desk.documents.chunks_of(d.tenant_id, [d.id]))
    ]
    assert desk.indexed() == [expected, expected]


def kit_worker(desk: "Desk") -> Any:
    """Another worker, with an embedder of its own."""
    writer = IndexWriter(desk.documents, desk.keywords, desk.vectors, HashEmbedder())
    handlers = {INDEX: writer.index, RELABEL: writer.relabel, REMOVE: writer.remove}
    return type(desk.worker)(desk.queue, desk.worker.lane, handlers)


@pytest.mark.parametrize("store", ["keywords", "vectors"])
@pytest.mark.parametrize(
    ("kind", "method"), [(INDEX, "upsert"), (RELABEL, "relabel"), (REMOVE, "delete")]
)
async def test_a_store_that_does_not_answer_fails_the_job_and_loses_nothing(
    kit: "Kit", store: str, kind: str, method: str
) -> None:
    desk = await read(kit, a="First leave.")
    await desk.worker.work_off()
    one = job(desk, kind, "a")
    if kind == REMOVE:
        ok(
            await desk.documents.delete(
                desk.corpus.tenant_id, [d.id for d in desk.state.documents.values()], ()
            )
        )
    whole = getattr(desk, store)

    async def broken(*_: object) -> object:
        return DOWN

    setattr(whole, method, broken)
    handler = {INDEX: desk.writer.index, RELABEL: desk.writer.relabel, REMOVE: desk.writer.remove}
    (result,) = await handler[kind]([one])
    assert result == DOWN
    delattr(whole, method)
    ok((await handler[kind]([one]))[0])


async def test_a_corpus_that_is_gone_or_does_not_answer_is_never_taken_for_done(
    kit: "Kit",
) -> None:
    desk = await read(kit, a="First leave.")
    handlers = (desk.writer.index, desk.writer.relabel, desk.writer.remove)
    for handler in handlers:
        (result,) = await handler([job(desk, INDEX, "a", corpus="other")])
        err(result, NotFoundError)

    async def down(_: TenantId) -> object:
        return DOWN

    desk.documents.corpora = down  # type: ignore[method-assign, assignment]
    for handler in handlers:
        assert await handler([job(desk, INDEX, "a")]) == [DOWN]


async def test_an_index_made_with_another_model_is_not_added_to(kit: "Kit") -> None:
    desk = kit.Desk(kit.Source(a="First leave."))
    desk.corpus = Corpus(
        CorpusId("handbook"), desk.corpus.tenant_id, "Handbook", desk.corpus.index, "other@1"
    )
    await desk.ingest()

    assert desk.indexed() == [[], []]
    assert "another model" in desk.dead()[0]
    (result,) = await desk.writer.index([job(desk, INDEX, "a")])
    err(result, ConflictError)
    ok((await desk.writer.remove([job(desk, REMOVE, "a")]))[0])
