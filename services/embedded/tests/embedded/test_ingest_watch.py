import asyncio
from collections.abc import Sequence

from cogni_application.indexing.ingest import Progress
from cogni_domain.jobs import LeasedJob
from cogni_embedded.ingest_watch import IngestWatch
from cogni_kernel import Err, Error, HumanText, Ok, Result, UpstreamError

GONE = UpstreamError(HumanText("The source is gone."))


async def read(watch: IngestWatch, *counts: int) -> None:
    for seen in counts:
        watch.note(Progress(seen=seen, indexed=seen))
        await asyncio.sleep(0)


async def test_ingests_side_by_side_are_added_up() -> None:
    watch = IngestWatch()

    await asyncio.gather(read(watch, 1, 2, 3), read(watch, 1, 2))

    assert watch.progress == Progress(seen=5, indexed=5)
    assert watch.line() == "5 documents: 5 indexed, 0 unchanged, 0 on the gap list"


async def test_ingests_one_after_the_other_are_added_up() -> None:
    watch = IngestWatch()

    await read(watch, 1, 2, 3, 1, 2)

    assert watch.progress.seen == 5


async def test_what_goes_wrong_is_remembered_until_it_goes_well() -> None:
    watch, heard = IngestWatch(), list[Error | None]()
    results: list[Result[None]] = [Err(GONE), Ok(None)]
    watch.listener = lambda watched: heard.append(watched.error)

    async def handler(_: Sequence[LeasedJob]) -> Sequence[Result[None]]:
        return [results.pop(0)]

    async def other(_: Sequence[LeasedJob]) -> Sequence[Result[None]]:
        return [Ok(None)]

    watched, beside = watch.watched(handler), watch.watched(other)
    await watched([])
    await beside([])
    await watched([])

    assert heard == [GONE, GONE, None]
    assert watch.progress == Progress()
