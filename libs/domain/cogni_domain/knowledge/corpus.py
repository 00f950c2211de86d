"""A tenant's bodies of documents, and the passages they are searched by."""

from dataclasses import dataclass
from datetime import datetime

from cogni_domain.access.predicate import Labels
from cogni_domain.access.rule import AccessRule
from cogni_domain.access.tokens import ReaderToken
from cogni_kernel import ChunkId, CorpusId, DocumentId, TenantId


@dataclass(frozen=True, slots=True)
class IndexId:
    """One partition of a store: never shared between tenants. `generation` counts rebuilds."""

    tenant_id: TenantId
    corpus_id: CorpusId
    generation: int = 1

    def __str__(self) -> str:
        return f"{self.tenant_id}/{self.corpus_id}/{self.generation}"


@dataclass(frozen=True, slots=True)
class Corpus:
    """One body of documents of one tenant.

    Attributes:
        index: The alias's target: where its chunks are searched. Moving it is the cutover.
        embedder_version: Which model wrote the vectors there; a query by any other is refused.
        indexed_through: The moment up to which the source was read, None before the first time.
    """

    id: CorpusId
    tenant_id: TenantId
    name: str
    index: IndexId
    embedder_version: str
    indexed_through: datetime | None = None


@dataclass(frozen=True, slots=True)
class Document:
    """One document as it stands now; its row decides what may leave retrieval.

    Attributes:
        source_id: Its id at the source, stable over moves and edits.
        version: Counts up with every change of content; passages of another version are stale.
        content_digest: Of the source's revision that was read; an unchanged one is not read again.
        rule: Who may read it now.
        parent: The document it is attached to, whose rule it inherits.
        url: Where a person opens it at the source, if there is such a place.
    """

    id: DocumentId
    tenant_id: TenantId
    corpus_id: CorpusId
    source_id: str
    title: str
    version: int
    content_digest: str
    rule: AccessRule
    media_type: str
    updated_at: datetime
    parent: DocumentId | None = None
    url: str | None = None

    def labels(self) -> Labels:
        """Return what a predicate is evaluated on."""
        return labels(self.tenant_id, self.corpus_id, self.rule.readers)


@dataclass(frozen=True, slots=True)
class Chunk:
    """A passage; never without its document, and never without its readers.

    Attributes:
        ordinal: Its place in the document, from 0.
        text: What is read and quoted.
        heading: The headings above it, outermost first.
        locator: Its place as a person would say it: `page 3`; empty where the headings say it all.
        readers: The document's reader tokens, for the store's filter; none means readable by nobody.
        document_version: The version it was cut from.
    """

    id: ChunkId
    document_id: DocumentId
    tenant_id: TenantId
    corpus_id: CorpusId
    title: str
    ordinal: int
    text: str
    heading: tuple[str, ...]
    locator: str
    readers: frozenset[ReaderToken]
    document_version: int

    def labels(self) -> Labels:
        """Return what a predicate is evaluated on."""
        return labels(self.tenant_id, self.corpus_id, self.readers)

    @property
    def place(self) -> str:
        """The locator a person reads beside the title: headings, then page, slide or cells."""
        below = self.heading[1:] if self.heading[:1] == (self.title,) else self.heading
        return " › ".join(filter(None, (*below, self.locator)))

    @property
    def indexed_text(self) -> str:
        """What is embedded and analysed: the text under its title and headings."""
        heads = dict.fromkeys((self.title, *self.heading))
        return "\n".join((*heads, self.text))


@dataclass(frozen=True, slots=True)
class Hit:
    """What a store found: which passage of which version, and how well it fits (higher is better)."""

    chunk_id: ChunkId
    document_id: DocumentId
    score: float


@dataclass(frozen=True, slots=True)
class ScoredChunk:
    """A passage that may be read, and how well it fits the question."""

    chunk: Chunk
    score: float


def chunk_id(document: DocumentId, version: int, ordinal: int) -> ChunkId:
    """Return the id of a passage: the same cut gives the same id."""
    return ChunkId(f"{document}:{version}:{ordinal}")


def labels(tenant: TenantId, corpus: CorpusId, readers: frozenset[ReaderToken]) -> Labels:
    """Return the three fields that every store filters on."""
    return {
        "tenant": frozenset({str(tenant)}),
        "corpus": frozenset({str(corpus)}),
        "readers": frozenset(readers),
    }
