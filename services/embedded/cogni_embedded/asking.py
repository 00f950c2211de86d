"""One question from the command line: through the process that holds the data folder, or in this one."""

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta

import httpx2

from cogni_application.turn.take_turn import TurnRequest
from cogni_domain.access.directory import Account
from cogni_embedded.background import Background
from cogni_embedded.bootstrap import Product
from cogni_embedded.data_folder import DataFolder, Holder
from cogni_embedded.host_token import signed_token
from cogni_embedded.ingesting import work_off
from cogni_embedded.readiness import Readiness
from cogni_embedded.serving import Say, prepare
from cogni_engine import Delta, DoneDelta, FailedDelta, from_payload
from cogni_kernel import Err, Error, HumanText, Ok, Result, UpstreamError
from cogni_surfaces import disclosed

Show = Callable[[Delta], None]
UNREACHABLE = HumanText(
    "The running product did not answer. Is it still there? `cogni doctor` tells."
)
TIMEOUT = httpx2.Timeout(60.0, connect=5.0)
STARTING_S = 10.0
TOKEN_LIFETIME = timedelta(hours=8)


async def read_first(product: Product, folder: DataFolder, show: Say) -> Result[None]:
    """Read the demo company where that was not done yet, in this process, which holds the data folder."""
    prepared = await prepare(product, ())
    if isinstance(prepared, Err):
        return prepared
    if await Readiness(product).why_not() is None:
        return Ok(None)
    product.watch.listener = lambda watch: show(watch.line())
    return await work_off(product, folder, show)


async def answer_here(
    product: Product, account: Account, question: str, show: Show
) -> Result[Mapping[str, object]]:
    """Answer in this process, which holds the data folder."""
    principal = await product.resolver.current(account.tenant_id, account.id)
    if isinstance(principal, Err):
        return principal
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


async def answer_there(
    product: Product, account: Account, question: str, folder: DataFolder, show: Show
) -> Result[Mapping[str, object]]:
    """Answer through the process that holds the data folder."""
    holder = await holder_of(folder)
    if isinstance(holder, Err):
        return holder
    signed = await token_of(product, account)
    if isinstance(signed, Err):
        return signed
    headers = {"Authorization": f"Bearer {signed.value}", "Accept": "text/event-stream"}
    turns = f"{holder.value.url}/v1/turns"
    try:
        async with (
            httpx2.AsyncClient(timeout=TIMEOUT, trust_env=False) as client,
            client.stream("POST", turns, json={"message": question}, headers=headers) as response,
        ):
            if response.status_code != 200:
                problem = json.loads(await response.aread())
                return Err(Error(HumanText(str(problem.get("title", UNREACHABLE)))))
            return await followed(response, show)
    except (httpx2.HTTPError, ValueError) as error:
        return Err(UpstreamError(UNREACHABLE, detail={"error": repr(error)}))


async def holder_of(folder: DataFolder) -> Result[Holder]:
    """Return who holds the folder; one that has just begun is given a moment to say so."""
    until = asyncio.get_running_loop().time() + STARTING_S
    while asyncio.get_running_loop().time() < until:
        if (holder := folder.holder()) is not None:
            return Ok(holder)
        await asyncio.sleep(0.1)
    return Err(folder.in_use())


async def followed(response: httpx2.Response, show: Show) -> Result[Mapping[str, object]]:
    """Read a stream of deltas, show each, and return the outcome that it ends with."""
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


async def token_of(product: Product, account: Account) -> Result[str]:
    """Return a host token of the demo company.

    Errors:
        NotFoundError: The demo company is not in this data folder yet.
    """
    return await signed_token(product, account, TOKEN_LIFETIME)


def source_lines(outcome: Mapping[str, object]) -> Iterator[str]:
    """Yield one line a source of the answer."""
    citations = outcome.get("citations")
    for citation in citations if isinstance(citations, list) else []:
        place = f", {citation['locator']}" if citation["locator"] else ""
        yield f"[{citation['handle']}] {citation['label']}{place}"


def proposal_lines(outcome: Mapping[str, object]) -> Iterator[str]:
    """Yield what a person reads of the change that waits, and how to decide on it."""
    proposal = outcome.get("proposal")
    if not isinstance(proposal, Mapping):
        return
    yield str(proposal["rendering"]["title"])
    for step in proposal["rendering"]["steps"]:
        yield f"  {step['title']}: {step['detail']}"
    yield (
        f"Nothing has changed yet. Accept it before {proposal['expires_at']} with "
        f"POST /v1/proposals/{proposal['id']}/accept, or ask in `cogni chat` and say yes there."
    )
