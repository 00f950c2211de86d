import asyncio
import resource
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from cogni_adapters.tantivy.keyword_search import TantivyKeywordSearchAdapter
from cogni_adapters.tantivy.partitions import MOST_OPEN, MOST_WRITERS
from cogni_domain.knowledge.corpus import IndexId
from cogni_kernel import ConflictError, DocumentId, UpstreamError
from cogni_testing.assertions import err, ok
from cogni_testing.contracts.keyword_matching import FOR_ALICE, INDEX
from cogni_testing.contracts.keyword_search import KeywordSearchContract
from cogni_testing.contracts.knowledge import ACME, HANDBOOK, HR, IN_HR, a_document, passages
from cogni_testing.fixtures import fake_scope

Open = Callable[[str], TantivyKeywordSearchAdapter]


class TestTantivyKeywordSearch(KeywordSearchContract):
    @pytest.fixture(autouse=True)
    def _open(self, open_search: Open) -> None:
        self.open_search = open_search
        self.made = 0

    async def make_search(self) -> TantivyKeywordSearchAdapter:
        self.made += 1
        return self.open_search(str(self.made))


async def put(search: TantivyKeywordSearchAdapter, *names: str, index: IndexId = INDEX) -> None:
    chunks = [passages(a_document(name))[0] for name in names]
    ok(await search.upsert(index, chunks, [["leave"]] * len(chunks)))


async def found(search: TantivyKeywordSearchAdapter, index: IndexId = INDEX) -> set[str]:
    hits = ok(await search.search(index, ["leave"], FOR_ALICE.predicate, 1_000))
    return {str(hit.document_id) for hit in hits}


async def test_everything_is_there_after_a_restart(open_search: Open) -> None:
    search = open_search("one")
    await put(search, "a", "b", "c")
    ok(await search.delete(INDEX, [DocumentId("b")]))
    ok(await search.relabel(INDEX, DocumentId("c"), HR.readers))
    await search.close()

    again = open_search("one")

    assert await found(again) == {"a"}
    hits = ok(await again.search(INDEX, ["leave"], fake_scope(IN_HR).predicate, 10))
    assert {str(hit.document_id) for hit in hits} == {"a", "c"}
    assert ok(await again.relabel(INDEX, DocumentId("c"), HR.readers)) == 0


async def test_a_folder_that_another_writes_to_is_refused_and_stays_readable(
    open_search: Open,
) -> None:
    first, second = open_search("one"), open_search("one")
    await put(first, "a")
    chunks = passages(a_document("b"))

    err(await second.upsert(INDEX, chunks, [["leave"]]), ConflictError)
    err(await second.delete(INDEX, [DocumentId("a")]), ConflictError)
    other = IndexId(ACME, HANDBOOK, generation=2)
    err(await second.upsert(other, chunks, [["leave"]]), ConflictError)
    assert await found(second) == {"a"}

    await put(first, "c")
    await first.close()
    assert ok(await second.delete(INDEX, [DocumentId("c")])) == 1
    await put(second, "b")
    assert await found(second) == {"a", "b"}


async def test_a_closed_search_can_be_used_again(open_search: Open) -> None:
    search = open_search("one")
    await put(search, "a")
    await search.close()

    await put(search, "b")

    assert await found(search) == {"a", "b"}


async def test_threads_stay_few_however_many_indexes_there_are(open_search: Open) -> None:
    search = open_search("one")
    indexes = [IndexId(ACME, HANDBOOK, n) for n in range(1, MOST_OPEN + 10)]
    for index in indexes:
        await put(search, f"of-{index.generation}", index=index)

    assert [await found(search, index) for index in indexes] == [
        {f"of-{index.generation}"} for index in indexes
    ]
    async with asyncio.timeout(60):
        while engine_threads() > MOST_OPEN + 6 * MOST_WRITERS:
            await asyncio.sleep(0.1)  # a watcher notices at its next look that it is not needed


def engine_threads() -> int:
    names = []
    for thread in Path("/proc/self/task").iterdir():
        with suppress(FileNotFoundError):
            names.append((thread / "comm").read_text())
    return sum(name.startswith(("thr", "segment_", "merge_")) for name in names)


async def test_writes_at_once_all_count(open_search: Open) -> None:
    search = open_search("one")

    await asyncio.gather(*(put(search, f"d{number}") for number in range(20)))

    assert await found(search) == {f"d{number}" for number in range(20)}


async def test_an_index_that_cannot_be_read_is_an_error_that_says_what_to_do(
    open_search: Open, tmp_path: Path
) -> None:
    search = open_search("one")
    await put(search, "a")
    await search.close()
    for meta in tmp_path.glob("one/*/meta.json"):
        meta.write_text("{")

    error = err(
        await open_search("one").search(INDEX, ["leave"], FOR_ALICE.predicate, 1), UpstreamError
    )

    assert "disk" in str(error.message)


@contextmanager
def no_file_may_grow_beyond(limit: int) -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, before)


async def test_a_full_disk_is_an_error_and_the_index_stays_as_it_was(open_search: Open) -> None:
    search = open_search("one")
    await put(search, "a", "b")
    chunks = passages(a_document("a", version=2), *["text"] * 500)
    terms = [[f"term{number}{n}" for n in range(100)] for number in range(500)]

    with no_file_may_grow_beyond(2_000):
        err(await search.upsert(INDEX, chunks, terms), UpstreamError)

    assert await found(search) == {"a", "b"}
    await search.close()
    await put(search, "c")
    assert await found(search) == {"a", "b", "c"}


WRITE_UNTIL_KILLED = """
import asyncio, sys
from pathlib import Path
from cogni_adapters.tantivy.keyword_search import TantivyKeywordSearchAdapter
from cogni_testing.contracts.keyword_matching import INDEX
from cogni_testing.contracts.knowledge import a_document, passages

async def main():
    search = TantivyKeywordSearchAdapter(Path(sys.argv[1]))
    for version in range(1, 10_000):
        chunks = [p for name in "abc" for p in passages(a_document(name, version=version), "1", "2")]
        await search.upsert(INDEX, chunks, [["leave", f"version{version}"]] * len(chunks))
        print(version, flush=True)

asyncio.run(main())
"""


async def test_a_process_killed_while_it_writes_leaves_a_whole_state(
    open_search: Open, tmp_path: Path
) -> None:
    for _ in range(2):
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITE_UNTIL_KILLED, str(tmp_path / "one")],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert writer.stdout is not None
        for _ in range(15):
            last = int(writer.stdout.readline())
        writer.kill()
        writer.communicate()

        search = open_search("one")
        hits = ok(await search.search(INDEX, ["leave"], FOR_ALICE.predicate, 100))
        versions = {int(str(hit.chunk_id).split(":")[1]) for hit in hits}
        assert len(hits) == 6
        assert len(versions) == 1
        assert versions.pop() >= last
        await put(search, "a", "b", "c")
        await search.close()
