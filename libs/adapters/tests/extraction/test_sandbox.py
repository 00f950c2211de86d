"""A child that crashes, hangs, hoards or breaks out costs its own file and nothing else."""

import asyncio
import os
import signal
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from cogni_adapters.extraction.lockdown import FILES, NETWORK
from cogni_adapters.extraction.sandbox import SandboxExtractorAdapter, _Worker
from cogni_domain.knowledge.extracted import ExtractedDocument, ExtractionLimits, Reason, Skipped
from cogni_testing.contracts.extractor import ExtractorContract

TIGHT = ExtractionLimits(memory_bytes=400 * 2**20, cpu_s=1, wall_s=3, unpacked_bytes=2**20)


@pytest.fixture(scope="module", autouse=True)
def _ended() -> Iterator[None]:
    yield
    for adapter in _started:
        adapter.close()


_started: list[SandboxExtractorAdapter] = []


@cache
def sandbox(limits: ExtractionLimits) -> SandboxExtractorAdapter:
    adapter = SandboxExtractorAdapter(limits)
    _started.append(adapter)
    return adapter


@cache
def hostile(limits: ExtractionLimits = TIGHT) -> SandboxExtractorAdapter:
    program = (sys.executable, "-I", "-X", "utf8", str(Path(__file__).parent / "hostile.py"))
    adapter = SandboxExtractorAdapter(limits, workers=1, command=program)
    _started.append(adapter)
    return adapter


class TestSandboxExtractor(ExtractorContract):
    def make_extractor(self, limits: ExtractionLimits) -> SandboxExtractorAdapter:
        return sandbox(limits)


async def outcome(deed: str) -> str:
    found = await hostile(ExtractionLimits()).extract("a.txt", f"report {deed}".encode())
    assert isinstance(found, Skipped)
    return found.explanation


@pytest.mark.parametrize(
    ("deed", "reason"),
    [
        ("crash", Reason.CORRUPT),
        ("signal", Reason.CORRUPT),
        ("spin", Reason.BOUNDED),
        ("memory", Reason.BOUNDED),
        ("flood", Reason.BOUNDED),
        ("say ", Reason.CORRUPT),
        ("say {}\n", Reason.CORRUPT),
        ("say []\n", Reason.CORRUPT),
        ('say {"reason": "bored", "explanation": "x"}\n', Reason.CORRUPT),
    ],
)
async def test_a_child_that_ends_badly_is_a_reason_and_the_next_file_is_read(
    deed: str, reason: Reason
) -> None:
    found = await hostile().extract("bad", deed.encode())
    after = await hostile().extract("good.txt", b"good text")

    assert isinstance(found, Skipped)
    assert found.reason is reason
    assert isinstance(after, ExtractedDocument)


async def test_what_is_only_called_words_is_read_as_what_it_is() -> None:
    found = await sandbox(ExtractionLimits()).extract("page.md", rb"{\rtf1 Not a page.}")
    after = await sandbox(ExtractionLimits()).extract("page.md", b"# A page\n\nOf words.")

    assert isinstance(found, ExtractedDocument)
    assert (found.media_type, found.blocks[0].text) == ("application/rtf", "Not a page.")
    assert isinstance(after, ExtractedDocument)
    assert after.title == "A page"


async def test_one_child_reads_words_until_another_kind_comes_and_its_death_costs_no_file() -> None:
    adapter = SandboxExtractorAdapter(ExtractionLimits(), workers=1)

    async def read(name: str, data: bytes) -> list[int]:
        found = await adapter.extract(name, data)
        assert isinstance(found, ExtractedDocument), found
        [worker] = adapter._pool._idle
        listed = Path(f"/proc/{worker._process.pid}/task/{worker._process.pid}/children")
        return [int(child) for child in listed.read_text().split()]

    first = await read("a.md", b"One.")
    assert await read("b.txt", b"Two.") == first != []
    os.kill(first[0], signal.SIGKILL)
    assert await read("c.csv", b"three,four\nfive,six") == []
    assert await read("d.md", b"Four.") not in ([], first)
    assert await read("e.html", b"<html><body><p>Five.</p></body></html>") == []
    adapter.close()


async def test_a_hang_is_ended_by_the_wall_clock() -> None:
    found = await hostile().extract("bad", b"hang")
    after = await hostile().extract("good.txt", b"good text")

    assert isinstance(found, Skipped)
    assert found.explanation == f"Reading the file took more than {TIGHT.wall_s} s."
    assert isinstance(after, ExtractedDocument)


@pytest.mark.parametrize("deed", ["socket", "program", "fork", "read", "write", "list", "kill"])
async def test_python_code_in_a_child_may_not_leave_it(deed: str) -> None:
    assert await outcome(deed) in ("PermissionError", "BlockingIOError")


async def test_a_child_has_an_empty_folder_a_group_and_no_environment() -> None:
    assert await outcome("scratch") == "['note']"
    assert await outcome("scratch") == "['note']"
    assert await outcome("group") == "True"
    assert "PATH" not in await outcome("environment")


async def test_native_code_in_a_child_reaches_no_network_where_the_kernel_grants_it() -> None:
    if NETWORK not in hostile().confinement():
        pytest.skip("network namespaces are not allowed here")

    assert await outcome("native connect") == "Network is unreachable"


async def test_native_code_in_a_child_reaches_no_file_or_process_where_the_kernel_grants_it() -> (
    None
):
    if FILES not in hostile().confinement():
        pytest.skip("Landlock is not allowed here")

    assert await outcome("native open") == "refused"
    assert await outcome("native kill") == "refused"


async def test_a_warm_process_that_dies_is_replaced() -> None:
    adapter = hostile()
    worker = adapter._pool.borrow()
    worker._process.kill()
    adapter._pool.give_back(worker)

    lost = await adapter.extract("a.txt", b"text")
    after = await adapter.extract("a.txt", b"text")

    assert isinstance(lost, Skipped)
    assert isinstance(after, ExtractedDocument)


async def test_a_program_that_does_not_start_says_why() -> None:
    program = (sys.executable, "-c", "raise SystemExit('no such reader')")
    adapter = SandboxExtractorAdapter(command=program)

    with pytest.raises(RuntimeError, match="no such reader"):
        await adapter.extract("a.txt", b"text")
    adapter.close()


async def test_an_adapter_that_is_forgotten_leaves_no_process() -> None:
    adapter = SandboxExtractorAdapter()
    await adapter.extract("a.txt", b"text")
    worker = adapter._pool._idle[0]
    folder = worker._folder.path

    del adapter
    for _ in range(50):
        if worker._process.poll() is not None:
            break
        await asyncio.sleep(0.1)

    assert worker._process.poll() is not None
    assert not folder.exists()


async def test_many_small_files_cost_one_start(monkeypatch: pytest.MonkeyPatch) -> None:
    starts: list[object] = []
    original = _Worker.__init__

    def counting(self: _Worker, *how: Any) -> None:
        starts.append(self)
        original(self, *how)

    monkeypatch.setattr(_Worker, "__init__", counting)
    adapter = SandboxExtractorAdapter()

    for number in range(50):
        await adapter.extract(f"{number}.md", b"# Title\n\nSome text.\n\n- one\n- two\n")

    adapter.close()
    assert len(starts) == 1
