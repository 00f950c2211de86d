"""A language model's provider on the loopback, which says and does what a test scripts."""

import asyncio
from collections.abc import Sequence
from types import TracebackType

from cogni_testing.providers.connection import Connection
from cogni_testing.providers.embeddings import embeddings, models
from cogni_testing.providers.faults import Document, Hang, HangUp, ServesWhole, Status
from cogni_testing.providers.formats import CHAT, MESSAGES, RESPONSES
from cogni_testing.providers.playing import play
from cogni_testing.providers.received import Received
from cogni_testing.providers.script import Script, Turn

_FORMATS = {
    "/v1/chat/completions": CHAT,
    "/v1/responses": RESPONSES,
    "/v1/messages": MESSAGES,
    "/v1/embeddings": CHAT,
}


class ProviderDouble:
    """Speaks chat completions, responses and messages over HTTP, streaming and not; embeddings and models too.

    An embedding takes the next turn as well, for its usage and its faults; a list of models takes none.

    Attributes:
        script: What is said; it may be replaced between requests.
        requests: Everything that was asked, in the order in which it came.

    Example:
        async with ProviderDouble([calls("look_up", '{"n": 1}'), says("It is ", "open.")]) as double:
            client = AsyncOpenAI(api_key="any", base_url=double.base_url)
    """

    def __init__(self, script: Script | Sequence[Turn] = ()) -> None:
        self.script = script if isinstance(script, Script) else Script(tuple(script))
        self.requests: list[Received] = []
        self._turns = 0
        self._arrived = asyncio.Event()
        self._connections: set[Connection] = set()

    @property
    def base_url(self) -> str:
        """Where OpenAI's clients look: with `/v1`."""
        return f"{self.anthropic_url}/v1"

    @property
    def anthropic_url(self) -> str:
        """Where Anthropic's client looks: without it."""
        host, port = self._server.sockets[0].getsockname()
        return f"http://{host}:{port}"

    async def __aenter__(self) -> "ProviderDouble":
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(self._connect, "127.0.0.1", 0, backlog=4096)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        raised: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.stop()

    async def stop(self) -> None:
        """Take no more requests, and break off what is under way."""
        self._server.close()
        await asyncio.gather(*(connection.end() for connection in tuple(self._connections)))
        await self._server.wait_closed()

    async def received(self, number: int) -> Received:
        """Wait for a request, counted from 0, and return it."""
        while len(self.requests) <= number:
            self._arrived.clear()
            await self._arrived.wait()
        return self.requests[number]

    def _connect(self) -> Connection:
        connection = Connection(self._answer, self._connections.discard)
        self._connections.add(connection)
        return connection

    async def _answer(self, connection: Connection, request: Received) -> None:
        self.requests.append(request)
        self._arrived.set()
        if request.method == "GET" and request.path == "/v1/models":
            names = dict.fromkeys(turn.model for turn in self.script.turns)
            await connection.document(200, models(tuple(names)), {})
        elif request.method == "POST" and request.path in _FORMATS:
            turn = self.script.turn(request, self._turns)
            self._turns += 1
            await _say(connection, request, turn)
        else:
            await connection.document(404, {"error": {"message": "no such page"}}, {})


async def _say(connection: Connection, request: Received, turn: Turn) -> None:
    spoken = _FORMATS[request.path]
    for fault in turn.faults:
        match fault:
            case Status(status, headers):
                await connection.document(status, spoken.error(fault), headers)
                return
            case Document(data):
                await connection.document(200, data, {})
                return
            case Hang(None):
                await asyncio.Event().wait()
            case HangUp():
                connection.close()
                return
    if request.path == "/v1/embeddings":
        await connection.document(200, await embeddings(request.body, turn), {})
    elif not request.body.get("stream") or turn.has(ServesWhole):
        await connection.document(200, spoken.whole(turn), {})
    else:
        await play(connection, spoken.events(turn), turn.faults)
