import os
import tempfile
import time
from pathlib import Path

import pytest

from cogni_adapters.extraction.scratch import PREFIX, YOUNG_S, Scratch, sweep


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def aged(folder: Path) -> Path:
    before = time.time() - YOUNG_S - 1
    os.utime(folder, (before, before))
    return folder


def left_by_a_killed_process() -> Path:
    process = os.fork()
    if process == 0:
        (Scratch().path / "scratch").mkdir()
        os._exit(0)
    os.waitpid(process, 0)
    [folder] = Path(tempfile.gettempdir()).glob(f"{PREFIX}*")
    return aged(folder)


def test_what_a_killed_process_left_is_removed() -> None:
    left = left_by_a_killed_process()

    sweep()

    assert not left.exists()


def test_what_is_in_use_young_or_something_else_stays(temporary: Path) -> None:
    used = Scratch()
    aged(used.path)
    young, other = temporary / f"{PREFIX}young", aged(temporary)
    young.mkdir()
    (temporary / f"{PREFIX}file").touch()
    (temporary / f"{PREFIX}link").symlink_to(other)

    sweep()

    assert used.path.exists()
    assert young.exists()
    assert (temporary / f"{PREFIX}file").exists()
    used.remove()
    assert not used.path.exists()
