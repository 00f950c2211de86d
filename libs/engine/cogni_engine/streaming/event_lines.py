"""Server-sent events out of bytes, wherever the network cut them."""

MAX_EVENT_BYTES = 16 * 1024 * 1024

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class EventLines:
    r"""Collects the `data` of each event; lines are cut as bytes, so no character is ever split.

    Lines end in `\n`, `\r` or both. An event is over at a blank line, the last one also at the end of the
    stream. Other fields and comments are passed over.

    Attributes:
        dropped: Events that were longer than MAX_EVENT_BYTES.

    Source:
        WHATWG HTML, "Server-sent events", 9.2.6.
    """

    def __init__(self) -> None:
        self.dropped = 0
        self._held = bytearray()
        self._data: list[bytes] = []
        self._size = 0
        self._is_first = True
        self._after_return = False
        self._is_dropping = False
        self._is_within_line = False

    def feed(self, received: bytes) -> list[bytes]:
        """Take what arrived; return the data of the events that it completed."""
        events: list[bytes] = []
        for line in self._whole_lines(received):
            if line or self._is_within_line:
                self._take(line)
            elif self._is_dropping:
                self._is_dropping = False
            elif self._data:
                events.append(self._event())
        if self._size + len(self._held) > MAX_EVENT_BYTES:
            self._drop()
            self._is_within_line = bool(self._held)
            self._held.clear()
        return events

    def finish(self) -> list[bytes]:
        """Return the data of an event that the end of the stream completed, if there is one."""
        if self._held:
            self._take(bytes(self._held))
            self._held.clear()
        return [self._event()] if self._data else []

    def _whole_lines(self, received: bytes) -> list[bytes]:
        """Cut the whole lines off, without their ends; what is left is held."""
        if self._after_return and received:
            self._after_return = False
            received = received.removeprefix(b"\n")
        end = max(received.rfind(b"\n"), received.rfind(b"\r")) + 1
        if end == 0:
            self._held += received
            return []
        lines = (bytes(self._held) + received[:end]).splitlines()
        self._after_return = received[end - 1] == ord("\r")
        self._held[:] = received[end:]
        return lines

    def _take(self, line: bytes) -> None:
        if self._is_first:
            line = line.removeprefix(_BYTE_ORDER_MARK)
            self._is_first = False
        self._is_within_line = False
        if self._is_dropping:
            return
        if self._size + len(line) > MAX_EVENT_BYTES:
            self._drop()
            return
        name, _, value = line.partition(b":")
        if name == b"data":
            self._data.append(value.removeprefix(b" "))
            self._size += len(value)

    def _event(self) -> bytes:
        whole = b"\n".join(self._data)
        self._data.clear()
        self._size = 0
        return whole

    def _drop(self) -> None:
        """Forget the event under way; what still comes of it is passed over."""
        self.dropped += not self._is_dropping
        self._is_dropping = True
        self._data.clear()
        self._size = 0
