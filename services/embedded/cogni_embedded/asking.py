"""One question from the command line: through the process that holds the data folder, or in this one."""

import json
from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta

import httpx2

from cogni_application.turn.take_turn import TurnRequest
from cogni_domain.access.directory import Account
from cogni_domain.jobs import Lane
from cogni_domain.ports.clock import ClockPort
from cogni_domain.ports.directory import DirectoryPort
from cogni_embedded.bootstrap import Background, Product
from cogni_embedded.data_folder import Holder
from cogni_embedded.demo import key_id
from cogni_embedded.serving import not_ready, prepare
from cogni_engine import Delta, DoneDelta, FailedDelta, from_payload
from cogni_kernel import Err, Error, HumanText, NotFoundError, Ok, Result, UpstreamError
from cogni_runtime.bindings import demo_token
from cogni_surfaces import disclosed

Show = Callable[[Delta], None]
UNREACHABLE = HumanText(
    "The running product did not answer. Is it still there? `cogni doctor` tells."
)
NOT_THERE = HumanText("The demo company is not in this data folder yet. Start it: make run.")
TIMEOUT_S = 130.0
TOKEN_LIFETIME = timedelta(hours=8)


async def answer(
    product: Product,
    account: Account,
    question: str,
    show: Show,
    holder: Holder | None,
    free: Result[None],
) -> Result[Mapping[str, object]]:
    """Answer through the process that holds the data folder, or in this one where it is `free`."""
    checked = await product.bindings.refuse_other_schema()
    if isinstance(checked, Err):
        return checked
    if not isinstance(free, Err):
        return await _ask_here(product, account, question, show)
    if holder is None:
        return free
    signed = await token_of(product, account)
    await product.bindings.close()
    if isinstance(signed, Err):
        return signed
    return await _ask_there(holder, signed.value, question, show)


async def token_of(product: Product, account: Account) -> Result[str]:
    """Return a host token of the demo company.

    Errors:
        NotFoundError: The demo company is not in this data folder yet.
    """
    container = product.bindings.container
    issuer = await container.resolve(DirectoryPort).issuer(key_id(account.tenant_id))
    if isinstance(issuer, Err):
        return issuer
    if issuer.value is None:
        return Err(NotFoundError(NOT_THERE))
    clock = container.resolve(ClockPort)
    return Ok(demo_token(issuer.value, str(account.id), clock, TOKEN_LIFETIME))


async def _ask_here(
    product: Product, account: Account, question: str, show: Show
) -> Result[Mapping[str, object]]:
    """Answer in this process; the demo company is read first where it was not yet."""
    prepared = await prepare(product, ())
    if isinstance(prepared, Err):
        return prepared
    principal = await product.resolver.current(account.tenant_id, account.id)
    if isinstance(principal, Err):
        return principal
    if await not_ready(product) is not None:
        await product.lanes[Lane.INDEXING].work_off()
    background = Background(product)
    background.start()
    try:
        opened = await product.turns.start(TurnRequest(question), principal.value)
        if isinstance(opened, Err):
            return opened
        async for numbered in product.streams.follow(opened.value.run_ref, 0):
            show(numbered.delta)
            if isinstance(numbered.delta, DoneDelta | FailedDelta):
                return Ok(disclosed(numbered.delta.outcome))
        raise RuntimeError("a run ended without a terminal delta")
    finally:
        await background.stop()


async def _ask_there(
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
