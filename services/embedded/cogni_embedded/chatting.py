"""A conversation on the terminal, over the same contract as any other surface."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

import httpx2
from starlette.applications import Starlette

from cogni_domain.access.directory import Account
from cogni_edge.http import create_app
from cogni_embedded.asking import TIMEOUT, UNREACHABLE, followed, holder_of, token_of
from cogni_embedded.background import Background
from cogni_embedded.bootstrap import Product
from cogni_embedded.data_folder import DataFolder
from cogni_embedded.serving import Say, edge_services
from cogni_engine import Delta
from cogni_kernel import Err, Error, HumanText, Ok, Result, UpstreamError
from cogni_surfaces import Confirmation, TerminalSurface

Read = Callable[[], Awaitable[str | None]]


@dataclass
class TerminalChat:
    """One person's conversation: questions in, answers and proposals out.

    Attributes:
        client: Speaks to the edge, as that person.
        show: Prints a piece of text as it is.
    """

    client: httpx2.AsyncClient
    surface: TerminalSurface
    show: Say
    conversation: str | None = None

    async def talk(self, read: Read) -> None:
        """Answer what is read until there is nothing more; then the conversation is ended."""
        while (question := await read()) is not None:
            if question.strip():
                answered = await self.ask(question)
                if isinstance(answered, Err):
                    self.show(f"{answered.error.message}\n")
        if self.conversation is not None:
            await self.client.post(f"/v1/conversations/{self.conversation}/end")

    async def ask(self, question: str) -> Result[None]:
        """Show an answer as it comes, what it rests on, and what waits for a decision.

        Errors:
            UpstreamError: The product did not answer.
        """
        body = {"message": question, "surface_id": self.surface.id}
        if self.conversation is not None:
            body["conversation_id"] = self.conversation
        try:
            outcome = await self._outcome(body)
        except (httpx2.HTTPError, ValueError) as error:
            return Err(UpstreamError(UNREACHABLE, detail={"error": repr(error)}))
        if isinstance(outcome, Err):
            return outcome
        self.conversation = str(outcome.value["conversation_id"])
        self.show(
            "\n" + self.surface.render({**outcome.value, "text": "", "message": None}).lstrip()
        )
        proposal = outcome.value.get("proposal")
        return await self._decided(proposal) if isinstance(proposal, Mapping) else Ok(None)

    async def _outcome(self, body: Mapping[str, str]) -> Result[Mapping[str, object]]:
        headers = {"Accept": "text/event-stream"}
        async with self.client.stream("POST", "/v1/turns", json=body, headers=headers) as response:
            if response.status_code != 200:
                return Err(_problem(await response.aread()))
            return await followed(response, self._stream)

    def _stream(self, delta: Delta) -> None:
        if (shown := self.surface.stream(delta)) is not None:
            self.show(shown)

    async def _decided(self, proposal: Mapping[str, object]) -> Result[None]:
        said = await self.surface.confirm(proposal)
        verb = "accept" if said is Confirmation.ACCEPTED else "decline"
        answer = await self.client.post(f"/v1/proposals/{proposal['id']}/{verb}")
        if answer.status_code != 200:
            return Err(_problem(answer.content))
        decided = answer.json()
        self.show(f"{decided['state']}. {decided['note']}".rstrip() + "\n")
        return Ok(None)


@asynccontextmanager
async def connected(
    product: Product, account: Account, folder: DataFolder, *, held: bool
) -> AsyncIterator[Result[httpx2.AsyncClient]]:
    """Yield a client of the product as somebody: of this process, or of the one that holds the folder."""
    signed = await token_of(product, account)
    if isinstance(signed, Err):
        yield signed
        return
    headers = {"Authorization": f"Bearer {signed.value}"}
    if held:
        async with _here(product, headers) as client:
            yield Ok(client)
        return
    holder = await holder_of(folder)
    if isinstance(holder, Err):
        yield holder
        return
    async with httpx2.AsyncClient(
        base_url=holder.value.url, headers=headers, timeout=TIMEOUT, trust_env=False
    ) as client:
        yield Ok(client)


@asynccontextmanager
async def _here(product: Product, headers: Mapping[str, str]) -> AsyncIterator[httpx2.AsyncClient]:
    services = edge_services(product, lambda: Ok(None), _ready)
    transport = httpx2.ASGITransport(create_app(services, _nothing), client=("127.0.0.1", 1))
    background = Background(product)
    background.start()
    try:
        async with httpx2.AsyncClient(
            transport=transport, base_url="http://here", headers=headers, timeout=None
        ) as client:
            yield client
    finally:
        await background.stop()


async def _ready() -> None:
    """Nobody asks."""


@asynccontextmanager
async def _nothing(_: Starlette) -> AsyncIterator[None]:
    yield


def _problem(body: bytes) -> Error:
    return Error(HumanText(str(json.loads(body).get("title", UNREACHABLE))))
