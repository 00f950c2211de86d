"""One question from the command line: through the process that holds the data folder, or in this one."""

import json
from collections.abc import Callable, Iterator, Mapping

import httpx2

from cogni_application.turn.take_turn import TurnRequest
from cogni_domain.access.principal import Principal
from cogni_domain.jobs import Lane
from cogni_embedded.bootstrap import Background, Product
from cogni_embedded.data_folder import Holder
from cogni_embedded.serving import not_ready, prepare
from cogni_engine import Delta, DoneDelta, FailedDelta, from_payload
from cogni_kernel import Err, Error, HumanText, Ok, Result, UpstreamError
from cogni_surfaces import disclosed

Show = Callable[[Delta], None]
UNREACHABLE = HumanText(
    "The running product did not answer. Is it still there? `cogni doctor` tells."
)
TIMEOUT_S = 130.0


async def ask_here(
    product: Product, principal: Principal, question: str, show: Show
) -> Result[Mapping[str, object]]:
    """Answer in this process; the demo company is read first where it was not yet."""
    prepared = await prepare(product, ())
    if isinstance(prepared, Err):
        return prepared
    if await not_ready(product) is not None:
        await product.lanes[Lane.INDEXING].work_off()
    background = Background(product)
    background.start()
    try:
        opened = await product.turns.start(TurnRequest(question), principal)
        if isinstance(opened, Err):
            return opened
        async for numbered in product.streams.follow(opened.value.run_ref, 0):
            show(numbered.delta)
            if isinstance(numbered.delta, DoneDelta | FailedDelta):
                return Ok(disclosed(numbered.delta.outcome))
        raise RuntimeError("a run ended without a terminal delta")
    finally:
        await background.stop()


async def ask_there(
    holder: Holder, token: str, question: str, show: Show
) -> Result[Mapping[str, object]]:
    """Answer through the process that holds the data folder."""
    headers = {"Authorization": f"Bearer {token}", "Accept": "text/event-stream"}
    try:
        async with (
            httpx2.AsyncClient(timeout=TIMEOUT_S) as client,
            client.stream(
                "POST", f"{holder.url}/v1/turns", json={"message": question}, headers=headers
            ) as response,
        ):
            if response.status_code != 200:
                body = json.loads(await response.aread())
                return Err(Error(HumanText(str(body.get("title", UNREACHABLE)))))
            return await _followed(response, show)
    except (httpx2.HTTPError, ValueError) as error:
        return Err(UpstreamError(UNREACHABLE, detail={"error": repr(error)}))


async def _followed(response: httpx2.Response, show: Show) -> Result[Mapping[str, object]]:
    name = ""
    async for line in response.aiter_lines():
        field, _, value = line.partition(": ")
        if field == "event":
            name = value
        elif field == "data":
            delta = from_payload(name, json.loads(value))
            show(delta)
            if isinstance(delta, DoneDelta | FailedDelta):
                return Ok(delta.outcome)
    return Err(UpstreamError(UNREACHABLE))


def source_lines(outcome: Mapping[str, object]) -> Iterator[str]:
    """Yield one line a source of the answer."""
    citations = outcome.get("citations")
    for citation in citations if isinstance(citations, list) else []:
        place = f", {citation['locator']}" if citation["locator"] else ""
        yield f"[{citation['handle']}] {citation['label']}{place}"
