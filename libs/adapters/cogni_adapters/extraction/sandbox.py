"""Files are read in processes that can harm nothing but themselves.

Measured: a fork and its answer cost 6 ms of processor time a small file, reading a page of words in a child that
stays 1; a process with the readers loaded anew would cost 600 ms.
"""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import weakref
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import PurePath
from typing import BinaryIO

from cogni_adapters.extraction.answer import decode_answer, most_bytes
from cogni_adapters.extraction.scratch import Scratch, sweep
from cogni_domain.knowledge.extracted import ExtractedDocument, ExtractionLimits, Reason, Skipped
from cogni_domain.ports.extractor import ExtractorPort

ZYGOTE = (sys.executable, "-I", "-X", "utf8", "-m", "cogni_adapters.extraction.zygote")
CALLED_WORDS = frozenset((".md", ".markdown", ".mdx", ".txt", ".text", ".log", ".csv", ".tsv"))
"""Endings of files that one child reads one after the other, where their content is what their names say."""

_GRACE_S = 10.0
_START_S = 60.0
_LINE_BYTES = 4096
_CRASHES = frozenset((signal.SIGSEGV, signal.SIGBUS, signal.SIGABRT, signal.SIGILL, signal.SIGFPE))


class SandboxExtractorAdapter(ExtractorPort):
    """Reads each file in a child process, forked from a warm one that has no environment: plain words in one that
    stays, any other file in one of its own.

    A child has limits on memory, processor and wall time, written bytes and open files, its own
    process group, an empty private folder, no network and no other files; `confinement` says whether
    the kernel enforces the last two or only an audit hook does. Attachments are not opened: give each
    back to `extract`, and bound how deep that goes.
    """

    def __init__(
        self,
        limits: ExtractionLimits | None = None,
        *,
        workers: int = 2,
        command: Sequence[str] = ZYGOTE,
    ) -> None:
        """Start nothing yet.

        Args:
            workers: Files read at the same time; each has a warm process of about 60 MB.
            command: The program of the warm process, which `zygote.serve` is.
        """
        self._limits = limits or ExtractionLimits()
        self._command = tuple(command)
        self._pool = _Pool(self._command, self._limits)
        self._threads = ThreadPoolExecutor(workers, thread_name_prefix="extraction")
        weakref.finalize(self, self._pool.close)

    async def extract(self, name: str, data: bytes) -> ExtractedDocument | Skipped:
        if len(data) > self._limits.file_bytes:
            return Skipped(
                Reason.TOO_LARGE,
                f"The file has {len(data)} bytes and the limit is {self._limits.file_bytes}: split it.",
            )
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, self._read, name, data)

    def confinement(self) -> frozenset[str]:
        """Which of `lockdown.NETWORK` and `lockdown.FILES` the kernel enforces here."""
        worker = self._pool.borrow()
        self._pool.give_back(worker)
        return worker.confined

    def close(self) -> None:
        """End the warm processes. Waits for files that are being read."""
        self._threads.shutdown()
        self._pool.close()

    def _read(self, name: str, data: bytes) -> ExtractedDocument | Skipped:
        try:
            with _in_memory("question") as question, _in_memory("answer") as answer:
                question.write(json.dumps(name).encode("ascii") + b"\n" + data)
                question.seek(0)
                is_words = PurePath(name).suffix.lower() in CALLED_WORDS
                return self._ask(question, answer, is_words=is_words)
        except OSError as error:
            return Skipped(
                Reason.UNREADABLE,
                f"The file could not be handed to its reader ({os.strerror(error.errno or 0)}): "
                "free some space and ingest it again.",
            )

    def _ask(
        self, question: BinaryIO, answer: BinaryIO, *, is_words: bool
    ) -> ExtractedDocument | Skipped:
        worker = self._pool.borrow()
        ended = worker.run(question, answer, is_words=is_words)
        if ended is None:
            worker.end()
            return Skipped(
                Reason.BOUNDED, "The reader of the file did not come back and was ended."
            )
        self._pool.give_back(worker)
        return ended.obstacle(self._limits) or _read_answer(answer, self._limits)


def _in_memory(name: str) -> BinaryIO:
    """Open a file that is nowhere on disk, and gone when nobody has it open."""
    return os.fdopen(os.memfd_create(name), "w+b")


def _read_answer(answer: BinaryIO, limits: ExtractionLimits) -> ExtractedDocument | Skipped:
    answer.seek(0)
    try:
        return decode_answer(answer.read(most_bytes(limits)))
    except (ValueError, RecursionError):
        return Skipped(Reason.CORRUPT, "The file made its reader answer nonsense: save it again.")


class _Ended:
    """How a child ended, as its warm process tells it."""

    def __init__(self, line: object) -> None:
        told = line if isinstance(line, dict) else {}
        self._signal = told.get("signal")
        self._timed_out = told.get("timed_out") is True
        self._failed = told.get("failed") is not False

    def obstacle(self, limits: ExtractionLimits) -> Skipped | None:
        """Why there is no answer; nothing for a child that ended well."""
        if self._timed_out:
            return Skipped(Reason.BOUNDED, f"Reading the file took more than {limits.wall_s} s.")
        if self._signal in _CRASHES:
            return Skipped(Reason.CORRUPT, "The file made its reader crash: save it again.")
        if self._signal or self._failed:
            return Skipped(Reason.BOUNDED, "Reading the file took more than the limits allow.")
        return None


class _Worker:
    """One warm process and the socket that commands it."""

    def __init__(self, command: Sequence[str], limits: ExtractionLimits) -> None:
        self._limits = limits
        sweep()
        self._folder = Scratch()
        ours, theirs = socket.socketpair()
        self._control = ours
        with theirs, tempfile.TemporaryFile() as complaints:
            self._process = subprocess.Popen(  # noqa: S603
                [*command, str(theirs.fileno()), json.dumps(asdict(limits))],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=complaints,
                cwd=self._folder.path,
                env={},
                pass_fds=(theirs.fileno(),),
            )
            theirs.close()
            told = self._line(_START_S)
            if not isinstance(told, dict):
                self.end()
                complaints.seek(0)
                last = complaints.read()[-500:].decode("utf-8", "replace")
                raise RuntimeError(f"the process that reads files did not start: {last}")
        self.confined = frozenset(str(entry) for entry in told.get("confined", ()))

    def run(self, question: BinaryIO, answer: BinaryIO, *, is_words: bool) -> _Ended | None:
        """Have one file read. Nothing is returned for a process that can be used no more."""
        try:
            kind = b"w" if is_words else b"."
            socket.send_fds(self._control, [kind], [question.fileno(), answer.fileno()])
        except OSError:
            return None
        told = self._line(self._limits.wall_s + _GRACE_S)
        return None if told is None else _Ended(told)

    def end(self) -> None:
        """End the process, and with it the child that it may have."""
        self._control.close()
        self._process.kill()
        self._process.wait()
        self._folder.remove()

    def _line(self, timeout_s: float) -> object:
        """The next thing it says; nothing if it is silent, gone or says nonsense."""
        self._control.settimeout(timeout_s)
        line = b""
        try:
            while not line.endswith(b"\n") and len(line) < _LINE_BYTES:
                received = self._control.recv(_LINE_BYTES)
                if not received:
                    return None
                line += received
            told: object = json.loads(line)
        except (OSError, ValueError):
            return None
        return told


class _Pool:
    """Warm processes that wait for a file; one more is started where none does."""

    def __init__(self, command: Sequence[str], limits: ExtractionLimits) -> None:
        self._command = command
        self._limits = limits
        self._idle: list[_Worker] = []
        self._lock = threading.Lock()

    def borrow(self) -> _Worker:
        with self._lock:
            if self._idle:
                return self._idle.pop()
        return _Worker(self._command, self._limits)

    def give_back(self, worker: _Worker) -> None:
        with self._lock:
            self._idle.append(worker)

    def close(self) -> None:
        with self._lock:
            idle, self._idle = self._idle, []
        for worker in idle:
            worker.end()
