"""A rebuild whose process is killed again and again, searched all the while.

COGNI_REBUILD_CHUNKS says how many passages it has; a release is checked with 20,000.
"""

import asyncio
import os
import random
import signal
import sys
from asyncio.subprocess import PIPE
from pathlib import Path

import pytest

from cogni_application.rebuild.rebuild import Cutover, RebuildService
from cogni_domain.knowledge.rebuild import RebuildState
from cogni_kernel import Ok
from cogni_testing import ok
from cogni_testing.contracts.knowledge import ACME, HANDBOOK
from tests.rebuild.conftest import Gate, Shelf
from tests.rebuild.filling_process import SlowEmbedder

CHUNKS = int(os.environ.get("COGNI_REBUILD_CHUNKS", "320"))
KILLS = 10
PLACE = (ACME, HANDBOOK)
SECONDS_A_BATCH = 0.05
MODEL = SlowEmbedder(0)
CUTOVERS = 5


class Searching:
    """Somebody who searches without a pause, and what went wrong."""

    def __init__(self, shelf: Shelf) -> None:
        self.shelf = shelf
        self.asked = 0
        self.wrong: list[str] = []

    async def work(self) -> None:
        chance = random.Random(7)
        while True:
            n = chance.randrange(CHUNKS)
            result = await self.shelf.asked(f"question{n}", by=MODEL)
            self.asked += 1
            if not isinstance(result, Ok):
                self.wrong.append(str(result.error))
            elif f"d{n:06}" not in {str(s.chunk.document_id) for s in result.value.chosen}:
                self.wrong.append(f"question{n} was not found")
            await asyncio.sleep(0.02)


class Processes:
    """Starts one filling process after the other, and kills it or waits for it."""

    def __init__(self, maker: asyncio.subprocess.Process) -> None:
        self.maker = maker

    @classmethod
    async def over(cls, folder: Path) -> "Processes":
        """Make ready to start them."""
        script = Path(__file__).parent / "filling_process.py"
        arguments = (str(script), str(folder), str(SECONDS_A_BATCH))
        made = await asyncio.create_subprocess_exec(
            sys.executable, *arguments, stdin=PIPE, stdout=PIPE
        )
        return cls(made)

    async def start(self) -> int:
        """Start one; return its number."""
        assert self.maker.stdin is not None
        self.maker.stdin.write(b"\n")
        return await self._number()

    async def ended(self) -> int:
        """Wait until it ends; return 0 or the signal."""
        return await self._number()

    async def close(self) -> None:
        """Start no more."""
        assert self.maker.stdin is not None
        self.maker.stdin.close()
        await self.maker.wait()

    async def _number(self) -> int:
        assert self.maker.stdout is not None
        return int(await self.maker.stdout.readline())


@pytest.mark.timeout(300 if CHUNKS < 1_000 else 1_800)
async def test_a_rebuild_killed_ten_times_ends_in_one_cutover(shelf: Shelf) -> None:
    await shelf.fill(CHUNKS)
    await shelf.stores.keywords.close()
    service, chance = shelf.service(MODEL), random.Random(3)
    begun = ok(await service.rebuild(*PLACE))
    searching = Searching(shelf)
    task = asyncio.create_task(searching.work())
    processes, done, signals = await Processes.over(shelf.folder), [], []
    for _ in range(KILLS):
        running = await processes.start()
        await _written(service, chance.randrange(CHUNKS // KILLS))
        await asyncio.sleep(chance.uniform(0.0, SECONDS_A_BATCH))
        os.kill(running, signal.SIGKILL)
        signals.append(await processes.ended())
        done.append(ok(await service.under_way(*PLACE)).done)
    await processes.start()
    assert await processes.ended() == 0
    await processes.close()
    full = ok(await service.under_way(*PLACE))
    tried = await asyncio.gather(*(service.cut_over(*PLACE, Gate()) for _ in range(CUTOVERS)))
    before = searching.asked
    while searching.asked < before + 20:
        await asyncio.sleep(0.01)
    task.cancel()

    assert signals == [signal.SIGKILL] * KILLS
    assert (full.state, full.done, full.total) == (RebuildState.READY, CHUNKS, CHUNKS)
    assert 0 < done[-1] < CHUNKS
    assert done == sorted(done)
    assert [isinstance(t, Ok) and isinstance(t.value, Cutover) for t in tried].count(True) == 1
    [corpus] = ok(await shelf.stores.documents.corpora(ACME))
    assert corpus.index.generation == begun.generation
    assert searching.wrong == []
    documents = [shelf.document(n).id for n in range(CHUNKS)]
    for store in (shelf.stores.vectors, shelf.stores.keywords):
        assert ok(await store.delete(corpus.index, documents)) == CHUNKS


async def _written(service: RebuildService, more: int) -> None:
    """Wait until some more documents are written than there are now."""
    until = ok(await service.under_way(*PLACE)).done + more
    while ok(await service.under_way(*PLACE)).done < until:
        await asyncio.sleep(0.005)
