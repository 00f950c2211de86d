"""`slow_product.py --data FOLDER --port PORT`: the product with a model that says one sentence, word by word, and
never comes to its end.
"""

import asyncio
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from cogni_domain.ports.model import ModelPort
from cogni_edge.server import listen
from cogni_embedded.bootstrap import build
from cogni_embedded.data_folder import DataFolder
from cogni_embedded.serving import prepare, serve
from cogni_engine import Definition, Emitter, HealthState, Message, Response
from cogni_kernel import Result, TaskClass
from cogni_runtime.bindings import embedded
from cogni_testing import ok

SAYS = ("Everybody ", "gets ", "twenty ", "weeks ", "[s1] ")


class SlowModel(ModelPort):
    """Has begun to answer, and thinks."""

    model_version = "slow@1"
    task_class = TaskClass.CONVERSATIONAL

    def health(self) -> HealthState:
        return HealthState.HEALTHY

    async def complete(
        self, messages: Sequence[Message], tools: Sequence[Definition], emitter: Emitter | None
    ) -> Result[Response]:
        assert emitter is not None
        for word in SAYS:
            emitter.emit_token(word)
            await asyncio.sleep(0.01)
        await asyncio.Event().wait()
        raise AssertionError


def main(data: str, port: str) -> None:
    with DataFolder(Path(data)) as folder:
        ok(folder.hold())
        bindings = embedded(folder.path, os.environ)
        container = bindings.container
        container.swap(ModelPort, SlowModel())
        product = build(bindings)
        listening = ok(listen("127.0.0.1", int(port)))
        ok(asyncio.run(prepare(product, ())))
        serve(product, folder, listening, print)


if __name__ == "__main__":
    main(*sys.argv[2::2])
