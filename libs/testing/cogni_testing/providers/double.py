"""A language model's provider on the loopback, which says and does what a test scripts."""

import asyncio
from collections.abc import Sequence
from types import TracebackType

from cogni_testing.providers import chat
from cogni_testing.providers.connection import Connection
from cogni_testing.providers.faults import Hang, HangUp, ServesWhole, Status
from cogni_testing.providers.formats import Format
from cogni_testing.providers.playing import play, with_faults
from cogni_testing.providers.received import Received
from cogni_testing.providers.script import Script, Turn

_FORMATS = {
    "/v1/chat/completions": Format(chat.stream, chat.whole, chat.error, chat.error_frame),
}


class ProviderDouble:
    """Speaks the formats of chat completions over HTTP, streaming and not.

    Attributes:
        requests: What asked for a turn, in the order in which it came.

    >>> async def example() -> None:
    ...     async with ProviderDouble([says("Twenty ", "weeks.")]) as double:
    ...         client = AsyncOpenAI(api_key="any", base_url=double.base_url)
    """

    def __init__(self, script: Script | Sequence[Turn]) -> None:
        self.script = script if isinstance(script, Script) else Script(script)
        self.requests: list[Received] = []
        self._connections: list[Connection] = []

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
        self._server.close()
        await asyncio.gather(*(connection.end() for connection in self._connections))
        await self._server.wait_closed()

    def _connect(self) -> Connection:
        connection = Connection(self._answer)
        self._connections.append(connection)
        return connection

    async def _answer(self, connection: Connection, request: Received) -> None:
        spoken = _FORMATS.get(request.path)
        if spoken is None or request.method != "POST":
            await connection.document(404, {"error": {"message": "no such page"}}, {})
            return
        self.requests.append(request)
        turn = self.script.turn(request, len(self.requests) - 1)
        await _say(connection, request, turn, spoken)


async def _say(connection: Connection, request: Received, turn: Turn, spoken: Format) -> None:
    for fault in turn.faults:
        match fault:
            case Status(status, headers):
                await connection.document(status, spoken.error(fault), headers)
                return
            case Hang(None):
                await asyncio.Event().wait()
            case HangUp():
                connection.close()
                return
    if not request.body.get("stream") or turn.has(ServesWhole):
        await connection.document(200, spoken.whole(turn), {})
        return
    frames = with_faults(spoken.stream(turn), turn.faults, spoken.error_frame)
    await play(connection, frames, turn.faults)
