"""Images: one pattern for all, and the embedded one built and started, where a Docker engine answers."""

import re
import shutil
import subprocess
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from scripts.service_lock import Workspace, pinned
from tests.servers.installing import ROOT
from tests.servers.process import free_port

BASE = "python:3.11-slim"
HARDENED = [
    "--rm",
    "--pull",
    "never",
    "--read-only",
    "--tmpfs",
    "/tmp",
    "--cap-drop",
    "ALL",
    "--security-opt",
    "no-new-privileges",
]
DOCKERFILES = sorted(ROOT.glob("services/*/Dockerfile"))
STARTED_S = 240


def pattern(dockerfile: Path) -> str:
    """Return how a Dockerfile makes its image, without remarks and the name of its service, up to what is run."""
    text = re.sub(r"(?m)^#.*\n", "", dockerfile.read_text())
    made, user, _ = text.replace(dockerfile.parent.name, "SERVICE").partition("USER 10001:10001\n")
    return made + user


@pytest.mark.parametrize("dockerfile", DOCKERFILES, ids=lambda it: it.parent.name)
def test_every_dockerfile_is_the_one_pattern(dockerfile: Path) -> None:
    assert pattern(dockerfile) == pattern(ROOT / "services/embedded/Dockerfile")


@pytest.mark.parametrize("dockerfile", DOCKERFILES, ids=lambda it: it.parent.name)
def test_an_image_runs_as_nobody_and_migrates_only_when_told(dockerfile: Path) -> None:
    text = dockerfile.read_text()
    [user] = re.findall(r"(?m)^USER (\d+):\d+$", text)
    [command] = re.findall(r"(?m)^CMD (.*)$", text) or [""]

    assert int(user) > 0
    assert "migrate" not in command


def test_every_service_that_is_a_process_has_an_image() -> None:
    processes = {file.parents[1].name for file in ROOT.glob("services/*/*/__main__.py")}

    assert processes == {file.parent.name for file in DOCKERFILES}


def test_images_are_made_with_the_uv_of_the_makefile() -> None:
    [version] = re.findall(r"(?m)^UV_VERSION := (.+)$", (ROOT / "Makefile").read_text())

    for dockerfile in DOCKERFILES:
        assert f"uv=={version}" in dockerfile.read_text()


def package(root: Path, folder: str, name: str, more: str) -> None:
    (root / folder).mkdir(parents=True)
    text = f'[project]\nname = "{name}"\n{more}'
    (root / folder / "pyproject.toml").write_text(text)


def test_an_image_has_its_services_own_packages_and_extras_alone(tmp_path: Path) -> None:
    package(tmp_path, "services/thin", "cogni-thin", 'dependencies = ["cogni-low[one]", "web"]')
    package(
        tmp_path, "services/fat", "cogni-fat", 'dependencies = ["cogni-low[two]", "cogni-thin"]'
    )
    extras = '[project.optional-dependencies]\none = ["first"]\ntwo = ["second[x]>=2"]\n'
    package(tmp_path, "libs/low", "cogni-low", f'dependencies = ["plain"]\n{extras}')
    workspace = Workspace(tmp_path)

    thin, fat = (workspace.needs(Path(it)) for it in ("services/thin", "services/fat"))

    assert [str(it) for it in thin[0]] == ["libs/low", "services/thin"]
    assert thin[1:] == (["first", "plain", "web"], frozenset({"one"}))
    assert [str(it) for it in fat[0]] == ["libs/low", "services/fat", "services/thin"]
    assert fat[1:] == (["first", "plain", "second[x]>=2", "web"], frozenset({"one", "two"}))


def test_the_rim_alone_brings_no_store_and_no_model() -> None:
    _, requirements, _ = Workspace(ROOT).needs(Path("services/edge"))

    assert not {"SQLAlchemy", "tantivy", "openvino"} & set(requirements)


def test_a_part_of_the_lock_is_word_for_word_the_locks() -> None:
    lock = "a-b==1 \\\n    --hash=sha256:00\nab==2 ; python_version < '3.12' \\\n    --hash=sha256:11\nab==3 \\\n    --hash=sha256:22\n"

    assert pinned(lock, frozenset({"a-b"})) == "a-b==1 \\\n    --hash=sha256:00\n"
    assert pinned(lock, frozenset({"ab"})) == lock.partition("00\n")[2]
    assert pinned(lock, frozenset({"a-b", "ab"})) == lock


def docker(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["docker", *arguments], capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def image() -> Iterator[str]:
    if shutil.which("docker") is None or docker("info").returncode:
        pytest.skip("NOT run, no image was built: no Docker engine answers here")
    if docker("image", "inspect", BASE).returncode and docker("pull", "-q", BASE).returncode:
        pytest.skip(f"NOT run, no image was built: {BASE} is not to be had here")
    name = f"cogni/embedded:check-{uuid.uuid4().hex[:8]}"
    file = str(ROOT / "services/embedded/Dockerfile")
    built = docker("build", "-q", "-f", file, "-t", name, str(ROOT))
    assert built.returncode == 0, built.stdout + built.stderr
    yield name
    docker("rmi", "-f", name)


@pytest.fixture
def volume() -> Iterator[str]:
    name = f"cogni-check-{uuid.uuid4().hex[:8]}"
    docker("volume", "create", name)
    yield name
    docker("volume", "rm", "-f", name)


@pytest.mark.timeout(1800)
def test_the_image_refuses_an_unmigrated_volume_and_serves_a_migrated_one(
    image: str, volume: str
) -> None:
    root = ["--user", "0", "--entrypoint", "chown"]
    mounted = ["-v", f"{volume}:/data"]
    owned = docker("run", "--rm", "--pull", "never", *root, *mounted, image, "10001:10001", "/data")
    assert owned.returncode == 0, owned.stderr

    early = docker("run", *HARDENED, *mounted, image)
    assert early.returncode == 1
    assert "cogni migrate" in early.stdout + early.stderr

    migrated = docker("run", *HARDENED, *mounted, image, "migrate", "--data", "/data")
    assert migrated.returncode == 0, migrated.stderr

    port, name = free_port(), volume
    started = docker(
        "run", "-d", "--name", name, *HARDENED, *mounted, "-p", f"127.0.0.1:{port}:8080", image
    )
    assert started.returncode == 0, started.stderr
    try:
        wait_for(f"http://127.0.0.1:{port}/readyz", name)
        asked = docker(
            "exec",
            name,
            "cogni",
            "ask",
            "parental leave?",
            *["--as", "engineer", "--data", "/data"],
        )
        assert asked.returncode == 0, asked.stdout + asked.stderr
        assert docker("exec", name, "touch", "/app/changed").returncode != 0
        assert docker("exec", name, "id", "-u").stdout.strip() == "10001"
    finally:
        stopped = docker("stop", "-t", "30", name)
    assert stopped.returncode == 0


def wait_for(url: str, name: str) -> None:
    """Wait until an address answers with 200; fail with what it and the container said last."""
    said = ""
    deadline = time.monotonic() + STARTED_S
    while time.monotonic() < deadline:
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except urllib.error.HTTPError as error:
            said = error.read().decode()
        except OSError as error:
            said = str(error)
        time.sleep(0.5)
    log = docker("logs", name)
    pytest.fail(f"not ready in {STARTED_S} s: {said}\n{log.stdout}{log.stderr}")
