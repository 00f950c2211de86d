"""The messages of one run, and what is given up first when they grow too long."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

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
        thread = self
        for step in (_drop_history, _empty_observations, _drop_subject):
            for trimmed in step(thread):
                if thread.token_estimate() <= limit:
                    return thread
                thread = trimmed
        return thread


def _drop_history(thread: Thread) -> Iterator[Thread]:
    messages = list(thread.messages)
    while (first := next((i for i, m in enumerate(messages) if _is_history(m)), None)) is not None:
        end = first + 1
        while (
            end < len(messages) and _is_history(messages[end]) and not _is_question(messages[end])
        ):
            end += 1
        del messages[first:end]
        yield Thread(tuple(messages))


def _is_history(message: Message) -> bool:
    return message.origin is Origin.HISTORY


def _is_question(message: Message) -> bool:
    return message.role is Role.USER


def _empty_observations(thread: Thread) -> Iterator[Thread]:
    messages = list(thread.messages)
    calling = [i for i, m in enumerate(messages) if m.tool_calls]
    newest = calling[-1] if calling else 0
    for i, message in enumerate(messages[:newest]):
        if message.role is Role.TOOL and len(message.text) > WORTH_TRIMMING:
            messages[i] = replace(message, content=TRIMMED)
            yield Thread(tuple(messages))


def _drop_subject(thread: Thread) -> Iterator[Thread]:
    kept = tuple(m for m in thread.messages if m.origin is not Origin.SUBJECT)
    if len(kept) < len(thread.messages):
        yield Thread(kept)
