from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.embedded.conftest import Cogni, Running

pytestmark = [pytest.mark.xdist_group("crash"), pytest.mark.timeout(600)]


def test_a_first_start_says_how_far_it_is_and_answers(
    tmp_path: Path, start: "Callable[..., Running]", cogni: "Cogni"
) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "menu.md").write_text("On Friday the canteen serves plaice with capers.")
    data = tmp_path / "data"
    cogni("migrate", data=data)

    running = start(data, more=("--folder", str(folder)))
    unready = ""
    while not unready:
        with running.client() as client:
            answer = client.get("/readyz") if running.said else None
        unready = answer.json()["title"] if answer and answer.status_code == 503 else unready
    running.until_ready()
    asked = cogni("ask", "What does the canteen serve?", "--as", "support", data=data)

    assert "plaice" in asked.stdout
    assert unready.startswith("Still ")
    assert "Ready. " in running.said
    assert "0 documents" not in running.said
