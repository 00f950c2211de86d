"""Opaque, typed identifiers: a `TenantId` can never stand where a `RunRef` belongs."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Identifier:
    """An opaque id; equal only to the same value of the *same class*.

    Raises:
        ValueError: The value is empty.

    Source:
        COGNI.BUILD spec, package kernel, "Identifier".

    >>> TenantId("acme") == TenantId("acme")
    True
    >>> TenantId("acme") == CorpusId("acme")
    False
    """

    value: str

    def __post_init__(self) -> None:
        if not self.value:
            raise ValueError(f"{type(self).__name__} must not be empty")

    def __str__(self) -> str:
        return self.value


class TenantId(Identifier):
    """One customer; nothing is ever shared between two."""

    __slots__ = ()


class PrincipalId(Identifier):
    """One person or machine, within its tenant."""

    __slots__ = ()


class RunRef(Identifier):
    """One turn, from its question to its terminal delta."""

    __slots__ = ()


class ConversationId(Identifier):
    """A series of runs by one person."""

    __slots__ = ()


class CorpusId(Identifier):
    """One body of documents of a tenant."""

    __slots__ = ()


class DocumentId(Identifier):
    """One document of a corpus."""

    __slots__ = ()


class ChunkId(Identifier):
    """One passage of a document."""

    __slots__ = ()


class ProposalId(Identifier):
    """One mutation that waits for a person; also its idempotency key."""

    __slots__ = ()


class ToolName(Identifier):
    """The name by which a model calls a tool."""

    __slots__ = ()


class GrantKey(Identifier):
    """The name of one capability that an administrator can give."""

    __slots__ = ()


class VocabularyId(Identifier):
    """One set of words that people use for internal identifiers."""

    __slots__ = ()
