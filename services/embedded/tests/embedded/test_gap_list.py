import json
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.embedded.conftest import Cogni


def test_what_was_not_indexed_is_listed_with_its_reason_and_what_to_do(
    data: Path, tmp_path: Path, cogni: "Cogni"
) -> None:
    folder = tmp_path / "valves"
    folder.mkdir()
    (folder / "scan.pdf").write_bytes(b"no pdf at all")
    assert cogni("ingest", folder, "--corpus", "valves", data=data).exit_code == 0

    told = cogni("gaps", data=data)
    found = json.loads(cogni("gaps", "--json", data=data).stdout)

    assert "acme/valves: 1 on the gap list" in told.stdout
    assert "scan.pdf: " in told.stdout
    [valves] = [c for c in found["corpora"] if c["corpus_id"] == "valves"]
    assert (valves["tenant_id"], valves["total"]) == ("acme", 1)
    assert valves["gaps"][0]["reason"] == "corrupt"
    assert "attachments" not in {c["corpus_id"] for c in found["corpora"]}
