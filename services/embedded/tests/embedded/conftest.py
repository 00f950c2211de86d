"""The whole product as a person starts it: `cogni run` in a process of its own, on a folder of its own."""

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import httpx2
import pytest
from typer.testing import CliRunner, Result

from cogni_embedded.cli import app

WAIT_S = 180.0
LOOK_S = 0.05
MODEL_SETTINGS = ("OPENAI_", "ANTHROPIC_", "COGNI_MODEL", "COGNI_FALLBACK", "COGNI_RESIDENCY")
ENVIRONMENT = {
    name: value
    for name, value in os.environ.items()
    if not name.startswith(MODEL_SETTINGS) and "proxy" not in name.lower()
}
SLOW = Path(__file__).with_name("slow_product.py")

Cogni: TypeAlias = Callable[..., Result]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@dataclass
class Running:
    """One `cogni run`, or another program that serves like it.

    Attributes:
        program: What to run instead of `cogni`, with what follows it.
    """

    data: Path
    more: Sequence[str] = ()
    program: Sequence[str] = ("-m", "cogni_embedded", "run")
    port: int = field(default_factory=free_port)
    process: "subprocess.Popen[bytes] | None" = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def said(self) -> str:
        """What it has printed so far."""
        return (self.data.parent / f"{self.port}.log").read_text()

    def start(self) -> "Running":
        where = ("--data", str(self.data), "--port", str(self.port))
        with (self.data.parent / f"{self.port}.log").open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, *self.program, *where, *self.more],
                env=ENVIRONMENT,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        return self

    def until_ready(self) -> "Running":
        until = time.monotonic() + WAIT_S
        while time.monotonic() < until:
            assert self.process is not None
            assert self.process.poll() is None, self.said
            with contextlib.suppress(httpx2.TransportError):
                if httpx2.get(f"{self.url}/readyz", trust_env=False).status_code == 200:
                    return self
            time.sleep(LOOK_S)
        raise AssertionError(f"not ready: {self.said}")

    def end(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Send a signal, wait for the end; return the exit status."""
        assert self.process is not None
        self.process.send_signal(number)
        return self.process.wait(90)

    def client(self, token: str | None = None, **headers: str) -> httpx2.Client:
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        return httpx2.Client(base_url=self.url, headers=headers, timeout=90, trust_env=False)

    def close(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.end(signal.SIGKILL)


@pytest.fixture
def cogni() -> Cogni:
    """`cogni` within this process: `cogni("ask", "…", "--as", "engineer", data=folder)`."""
    runner = CliRunner(env=dict.fromkeys(set(os.environ) - set(ENVIRONMENT)))

    def run(*arguments: object, data: Path, **environment: str) -> Result:
        words = [*map(str, arguments), "--data", str(data)]
        result = runner.invoke(app, words, env=environment)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    return run


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder in which the demo company was read; to be copied, never used."""
    data = tmp_path_factory.mktemp("template") / "data"
    for words in (["migrate"], ["ask", "How much parental leave do I get?", "--as", "engineer"]):
        done = CliRunner().invoke(app, [*words, "--data", str(data)])
        assert done.exit_code == 0, done.output
    return data


@pytest.fixture
def data(template: Path, tmp_path: Path) -> Path:
    """A data folder of this test's own, in which the demo company was read."""
    shutil.copytree(template, tmp_path / "data")
    return tmp_path / "data"


@pytest.fixture
def start() -> Iterator[Callable[..., Running]]:
    """Start products that end with the test."""
    started: list[Running] = []

    def begin(data: Path, **settings: Any) -> Running:
        started.append(Running(data, **settings))
        return started[-1].start()

    yield begin
    for running in started:
        running.close()


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Callable[[str], Path]]:
    """Mount small disks: `disk("size=6m")`; skips where that is not allowed."""
    mounted: list[Path] = []

    def mount(options: str) -> Path:
        folder = tmp_path / f"disk{len(mounted)}"
        folder.mkdir()
        command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
        if shutil.which("mount") is None or subprocess.run(command, check=False).returncode != 0:
            pytest.skip("no disk can be mounted here")
        mounted.append(folder)
        return folder

    yield mount
    for folder in mounted:
        subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.fixture(scope="session")
def product(template: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """The one product that tests share; `make run` on an empty folder has a test of its own."""
    data = tmp_path_factory.mktemp("product") / "data"
    shutil.copytree(template, data)
    running = Running(data).start().until_ready()
    yield running
    running.close()


@pytest.fixture(scope="session")
def token_of(product: Running) -> Callable[[str], str]:
    """Return host tokens of the shared product, each made once."""
    made: dict[str, str] = {}

    def token(person: str) -> str:
        if person not in made:
            words = ["token", "--as", person, "--data", str(product.data)]
            made[person] = CliRunner().invoke(app, words).stdout.strip()
        return made[person]

    return token


def outcome_of(result: Result) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(result.stdout)
    return found
