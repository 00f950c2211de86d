"""One turn of two model calls, one tool and 50 deltas: the CPU of ours beside a hand-written loop on the openai SDK.

The provider is a process of its own and sends canned bytes. `ratio_openai` is the median, over rounds that take
every peer in turn, of CPU time by that of a loop on the SDK's typed stream. `whole_turn` adds identity by a signed
token, grants, the run's bounds, grounding and the sealed record on SQLite; the embedding model is left out
(`bench.embedding`). `python -m bench.loop PORT` serves the provider alone.
"""

import asyncio
import contextlib
import json
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from statistics import median
from typing import Any

import openai

from cogni_acme.people import load_people
from cogni_adapters.openai.chat import OpenAIChatAdapter
from cogni_adapters.system.clock import SystemClockAdapter
from cogni_application.turn.take_turn import TurnRequest
from cogni_domain.access.resolver import HostToken
from cogni_domain.ports.embedder import EmbedderPort
from cogni_domain.ports.reranker import RerankerPort
from cogni_embedded.bootstrap import Product, build
from cogni_embedded.host_token import signed_token
from cogni_engine import (
    Arguments,
    Assistant,
    Base,
    Completed,
    DoneDelta,
    Effect,
    Emitter,
    Message,
    Parameter,
    ParameterType,
    Registry,
    RunBounds,
    RunLoop,
    Thread,
    ToolResult,
    describe,
)
from cogni_kernel import Error, GrantKey, HumanText, ModelFacingText, RunRef
from cogni_runtime.bindings import PORTS, Bindings, embedded, migrate
from cogni_runtime.container import Container
from cogni_runtime.middleware import Call
from cogni_testing import HashEmbedder, LexicalReranker, ok

DELTAS, ROUNDS, TURNS = 50, 9, 20
ENGINE_LIMIT, WHOLE_LIMIT = 0.3, 0.4
MODEL = "served-1"
QUESTION = "How has the headcount developed?"
SYSTEM = "You are a helpful assistant."
TOOL, ARGUMENTS = "chart_headcount", '{"department": "Engineering"}'
WORDS = ["The ", "headcount ", "grew ", "from ", "spring ", "to ", "summer, ", "as ", "planned. "]
Peer = Callable[[Sequence[tuple[str, str]]], Awaitable[str]]


def chunk(delta: dict[str, object], finish: str | None = None, **more: object) -> bytes:
    choices = [{"index": 0, "delta": delta, "finish_reason": finish}]
    frame = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": MODEL}
    body = b"data: %b\n\n" % json.dumps({**frame, "choices": choices, **more}).encode()
    return b"%x\r\n%b\r\n" % (len(body), body)


def stream(deltas: list[dict[str, object]], finish: str) -> bytes:
    usage = {"prompt_tokens": 100, "completion_tokens": 50, "total_tokens": 150}
    head = (
        b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
    )
    said = b"".join(chunk(delta) for delta in deltas)
    return head + said + chunk({}, finish, usage=usage) + b"e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n"


ANSWER = stream([{"content": WORDS[n % len(WORDS)]} for n in range(DELTAS)], "stop")
CALL = stream(
    [
        {"tool_calls": [{"index": 0, "id": "call_1", "type": "function", "function": function}]}
        for function in (
            {"name": TOOL, "arguments": ""},
            *({"arguments": ARGUMENTS[n : n + 5]} for n in range(0, len(ARGUMENTS), 5)),
        )
    ],
    "tool_calls",
)


class Provider(asyncio.Protocol):
    """Answers with a call, and what was answered to a call with text."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport: Any = transport
        self._held = b""

    def data_received(self, data: bytes) -> None:
        self._held += data
        head, found, body = self._held.partition(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0] or 0)
        if found and len(body) >= length:
            self._held = b""
            last = json.loads(body)["messages"]
            self._transport.write(ANSWER if any(m["role"] == "tool" for m in last) else CALL)


async def serve(port: int) -> None:
    server = await asyncio.get_running_loop().create_server(Provider, "127.0.0.1", port)
    await server.serve_forever()


@contextlib.contextmanager
def provider() -> Iterator[str]:
    """Yield the address of a provider in a process of its own."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    with subprocess.Popen([sys.executable, "-m", "bench.loop", str(port)]) as process:
        try:
            for _ in range(200):
                with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                    break
                time.sleep(0.05)
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            process.terminate()


class Headcount(Base):
    definition = describe(
        TOOL,
        does="Look the headcount up",
        use_when="asked",
        do_not_use="otherwise",
        parameters=(
            Parameter("department", ParameterType.STRING, ModelFacingText("Which department.")),
        ),
    )
    grant = GrantKey("any")
    effect = Effect.READ

    async def call(self, args: Arguments) -> ToolResult | Error:
        return ToolResult.data(f"{args['department']}: 42")


class NoContext:
    run_ref = RunRef("run-1")

    def resource(self, kind: type) -> Any:
        raise LookupError(kind)


def by_hand(address: str) -> Peer:
    """A loop on the SDK's typed stream, as its users write it."""
    client = openai.AsyncOpenAI(base_url=address, api_key="any", max_retries=0)
    tools: Any = [{"type": "function", "function": Headcount.definition.to_wire()}]

    async def turn(past: Sequence[tuple[str, str]]) -> str:
        messages: list[Any] = [{"role": "system", "content": SYSTEM}]
        messages += [{"role": role, "content": text} for role, text in past]
        messages.append({"role": "user", "content": QUESTION})
        while True:
            text: list[str] = []
            arguments: list[str] = []
            call, name = "", ""
            answer = await client.chat.completions.create(
                model=MODEL, messages=messages, tools=tools, stream=True
            )
            async for piece in answer:
                if not piece.choices:
                    continue
                delta = piece.choices[0].delta
                if delta.content:
                    text.append(delta.content)
                elif delta.tool_calls:
                    function = delta.tool_calls[0].function
                    call = call or delta.tool_calls[0].id or ""
                    name = name or (function.name if function else "") or ""
                    arguments.append((function.arguments if function else "") or "")
            if not call:
                return "".join(text)
            function_ = {"name": name, "arguments": "".join(arguments)}
            asked = {"id": call, "type": "function", "function": function_}
            messages.append({"role": "assistant", "content": None, "tool_calls": [asked]})
            result = f"{json.loads(function_['arguments'])['department']}: 42"
            messages.append({"role": "tool", "tool_call_id": call, "content": result})

    return turn


@contextlib.asynccontextmanager
async def by_engine(address: str) -> AsyncIterator[Peer]:
    """The engine alone, with the product's own adapter."""
    model = OpenAIChatAdapter(MODEL, "any", address)
    clock, tools = SystemClockAdapter(), Registry((Headcount,))
    kept: dict[int, tuple[Message, ...]] = {}

    async def turn(past: Sequence[tuple[str, str]]) -> str:
        if id(past) not in kept:
            kept[id(past)] = tuple(_message(role, text) for role, text in past)
        system = Message.system(ModelFacingText(SYSTEM))
        thread = Thread((system, *kept[id(past)], Message.user(HumanText(QUESTION))))
        assistant = Assistant(
            model=model,
            context=NoContext(),
            thread=thread,
            tools=tools,
            emitter=Emitter(lambda _: None),
        )
        outcome = await RunLoop(assistant, RunBounds(), clock).execute()
        assert isinstance(outcome, Completed), outcome
        return outcome.text

    yield turn
    await model.close()


def _message(role: str, text: str) -> Message:
    said = Message.user(HumanText(text)) if role == "user" else Message.assistant(text)
    return said.as_history()


@contextlib.asynccontextmanager
async def by_product(address: str) -> AsyncIterator[Peer]:
    """The whole product in this process, but for its embedding model."""
    with tempfile.TemporaryDirectory() as folder:
        ok(migrate(Path(folder)))
        environment = {"OPENAI_BASE_URL": address, "COGNI_MODEL": MODEL}
        bindings = _without_models(embedded(Path(folder), environment))
        product = build(bindings)
        ok(await product.seed.plant(product.demo))
        work = [
            asyncio.create_task(product.streams.write()),
            asyncio.create_task(product.turns.keep_leases()),
        ]
        token = await _token(product)

        async def turn(past: Sequence[tuple[str, str]]) -> str:
            opened = await product.pipeline.run(
                Call(HostToken(token, from_loopback=True)),
                lambda principal: product.turns.start(TurnRequest(QUESTION), principal),
            )
            *_, last = [n.delta async for n in product.streams.follow(ok(opened).run_ref, 0)]
            assert isinstance(last, DoneDelta), last
            return str(last.outcome["text"])

        yield turn
        for task in work:
            task.cancel()
        await asyncio.wait(work)
        await bindings.close()


def _without_models(bindings: Bindings) -> Bindings:
    container = Container()
    others: dict[type, object] = {EmbedderPort: HashEmbedder(), RerankerPort: LexicalReranker()}
    for port in PORTS:
        container.bind(port, others.get(port) or bindings.container.resolve(port))
    return Bindings(container, bindings.refuse_other_schema, bindings.close)


async def _token(product: Product) -> str:
    """Return the token of a person who may use the tool."""
    [grant] = {str(t.grant) for t in product.demo.tools if str(t.definition.name) == TOOL}
    able = [p for p in load_people().people if grant in {str(g) for g in p.grants}]
    return ok(await signed_token(product, able[0].account, timedelta(hours=1)))


async def cpu_ms(peer: Peer, turns: int, past: Sequence[tuple[str, str]] = ()) -> float:
    """Return the CPU of one turn, of every thread of this process."""
    began = time.process_time()
    for _ in range(turns):
        text = await peer(past)
        assert text.count("headcount") == DELTAS // len(WORDS) + 1, text
    return (time.process_time() - began) * 1000 / turns


async def paired(base: Peer, ours: Peer) -> list[tuple[float, float]]:
    """Return the CPU of both in each round."""
    for peer in (base, ours):
        await cpu_ms(peer, 5)
    return [(await cpu_ms(base, TURNS), await cpu_ms(ours, TURNS)) for _ in range(ROUNDS)]


async def measured(address: str) -> dict[str, list[tuple[float, float]]]:
    """Measure the engine before the product is there, whose objects would slow both down."""
    base = by_hand(address)
    async with by_engine(address) as engine:
        alone = await paired(base, engine)
    async with by_product(address) as product:
        return {"engine": alone, "whole_turn": await paired(base, product)}


def run() -> Iterator[dict[str, object]]:
    with provider() as address:
        figures = asyncio.run(measured(address))
    for name, limit in (("engine", ENGINE_LIMIT), ("whole_turn", WHOLE_LIMIT)):
        ratio = median(ours / base for base, ours in figures[name])
        yield {
            "figure": name,
            "cpu_ms_a_turn": round(median(ours for _, ours in figures[name]), 2),
            "openai_cpu_ms_a_turn": round(median(base for base, _ in figures[name]), 2),
            "ratio_openai": round(ratio, 3),
            "rounds": ROUNDS,
            "ratio_limit": round(ratio / limit, 3),
        }


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1])))
