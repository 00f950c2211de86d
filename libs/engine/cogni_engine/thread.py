"""The messages of one run, and what is given up first when they grow too long."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import TypeAlias

from cogni_engine.messages import Message, Origin, Role
from cogni_kernel import TokenCount

WORTH_TRIMMING = 400
TRIMMED = "[An earlier result was left out to save room. Call the tool again if you need it.]"


@dataclass(frozen=True, slots=True)
class Thread:
    """An immutable sequence of messages.

    Source:
        COGNI.BUILD spec, package engine, "Thread".
    """

    messages: tuple[Message, ...] = ()

    def add(self, message: Message) -> "Thread":
        """Return this thread with one more message."""
        return Thread((*self.messages, message))

    def extended(self, messages: Iterable[Message]) -> "Thread":
        """Return this thread with more messages."""
        return Thread((*self.messages, *messages))

    def last(self) -> Message | None:
        """Return the newest message, if there is one."""
        return self.messages[-1] if self.messages else None

    def tool_messages(self) -> tuple[Message, ...]:
        """Return the evidence set: what tools answered."""
        return tuple(m for m in self.messages if m.role is Role.TOOL)

    def token_estimate(self) -> TokenCount:
        """Estimate the tokens of all messages."""
        return TokenCount(sum(m.tokens for m in self.messages))

    def trim_to(self, limit: TokenCount) -> "Thread":
        """Give up, oldest first: history, then older tool observations, then subject detail.

        Instructions, passages, the person's question and the newest observations stay, so the result can
        still be over `limit`; the bounds then halt the run. A call and its answers go or stay together, and
        observations of a few words stay too: they save nothing, and a marker is one.
        """
        excess = self.token_estimate() - limit
        given_up: dict[int, Message | None] = {}
        for saved, instead in chain(_history(self), _observations(self), _subject(self)):
            if excess <= 0:
                break
            given_up |= instead
            excess -= saved
        if not given_up:
            return self
        kept = (given_up.get(n, message) for n, message in enumerate(self.messages))
        return Thread(tuple(message for message in kept if message is not None))


GivenUp: TypeAlias = tuple[int, dict[int, Message | None]]
"""Tokens saved, and what stands instead of the messages at these places."""


def _history(thread: Thread) -> Iterator[GivenUp]:
    """Yield past turns, oldest first: a question with all that followed from it."""
    turn: dict[int, Message | None] = {}
    saved = 0
    for n, message in enumerate(thread.messages):
        if turn and (message.origin is not Origin.HISTORY or message.role is Role.USER):
            yield saved, turn
            turn, saved = {}, 0
        if message.origin is Origin.HISTORY:
            turn[n] = None
            saved += message.tokens
    if turn:
        yield saved, turn


def _observations(thread: Thread) -> Iterator[GivenUp]:
    """Yield long answers of tools, oldest first, but for those that the model has not read yet."""
    current = [(n, m) for n, m in enumerate(thread.messages) if m.origin is not Origin.HISTORY]
    newest = max((n for n, m in current if m.tool_calls), default=0)
    for n, message in current:
        if n < newest and message.role is Role.TOOL and len(message.text) > WORTH_TRIMMING:
            short = replace(message, content=TRIMMED)
            yield message.tokens - short.tokens, {n: short}


def _subject(thread: Thread) -> Iterator[GivenUp]:
    """Yield the detail of what the person looks at, in one piece."""
    detail = {n: m for n, m in enumerate(thread.messages) if m.origin is Origin.SUBJECT}
    if detail:
        yield sum(m.tokens for m in detail.values()), dict.fromkeys(detail)
