"""What a suite can ask: a shared collection, indexed for it, or the product as it stands."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from cogni_application.indexing.index import IndexWriter
from cogni_application.retrieval.retrieve import (
    MAX_PER_DOCUMENT,
    RetrievalRequest,
    RetrievalService,
)
from cogni_domain.access.principal import Memberships, MembershipState, Principal, PrincipalKind
from cogni_domain.access.rule import AccessRule
from cogni_domain.access.tokens import group_token
from cogni_domain.knowledge.chunking import ChunkPolicy
from cogni_domain.knowledge.corpus import Corpus, Document, IndexId
from cogni_domain.knowledge.extracted import Block, BlockKind, ExtractedDocument
from cogni_domain.ports.clock import ClockPort
from cogni_domain.ports.document_store import DocumentStorePort
from cogni_embedded.bootstrap import Product
from cogni_embedded.evaluation_sets import ASKER, SharedSet, Text
from cogni_embedded.sources import HOME
from cogni_evaluation import RetrievalTarget
from cogni_kernel import CorpusId, DocumentId, Err, Ok, PrincipalId, Result, TenantId

TENANT = TenantId("evaluation")
READERS, OTHERS = "evaluation/readers", "evaluation/others"
HIDDEN_EVERY = 10
"""Each tenth text stands there twice: once more for others alone, where a search that leaks would find it."""
BATCH = 64
_PAGE = 500


@dataclass(frozen=True, slots=True)
class IndexedSet(RetrievalTarget):
    """A shared collection with the product's own passages, terms and vectors.

    Attributes:
        rules: Who may read each document, as its source says.
    """

    retrieval: RetrievalService
    corpus: Corpus
    rules: Mapping[DocumentId, AccessRule]

    @property
    def reader(self) -> Principal:
        """Who asks the collection's questions: sees all of it, and none of what is hidden beside it."""
        return _reader(ASKER)

    async def retrieve(self, question: str, asker: str, k: int) -> Result[Sequence[DocumentId]]:
        return await _documents(self.retrieval, question, _reader(asker), (self.corpus.id,), k)

    async def may_read(
        self, asker: str, documents: Sequence[DocumentId]
    ) -> Result[frozenset[DocumentId]]:
        tokens = _reader(asker).own_tokens()
        return Ok(frozenset(d for d in documents if self.rules[d].admits(tokens)))


async def indexed(
    retrieval: RetrievalService,
    shared: SharedSet,
    clock: ClockPort,
    show: Callable[[str], None],
) -> Result[IndexedSet]:
    """Cut, embed and index a collection with the stores that `retrieval` searches.

    Errors:
        UpstreamError, …: A store or the model did not do its part.
    """
    writer = IndexWriter(
        retrieval.documents, retrieval.keywords, retrieval.vectors, retrieval.embedder
    )
    policy, id_ = ChunkPolicy(), CorpusId(shared.name)
    wanted = Corpus(id_, TENANT, shared.name, IndexId(TENANT, id_), retrieval.embedder.version)
    corpus = await retrieval.documents.put_corpus(wanted)
    if isinstance(corpus, Err):
        return corpus
    documents = list(_with_twins(shared.texts, corpus.value, clock))
    for start in range(0, len(documents), BATCH):
        batch = documents[start : start + BATCH]
        for document, text in batch:
            chunks = policy.chunk(document, _extracted(text))
            put = await retrieval.documents.put(document, chunks, ())
            if isinstance(put, Err):
                return put
        written = await writer.index_now(corpus.value, [document.id for document, _ in batch])
        if isinstance(written, Err):
            return written
        show(f"{shared.name}: {start + len(batch)} of {len(documents)} documents are indexed")
    rules = {document.id: document.rule for document, _ in documents}
    return Ok(IndexedSet(retrieval, corpus.value, rules))


@dataclass(frozen=True, slots=True)
class ProductTarget(RetrievalTarget):
    """The product on its data folder; documents are named by their source id, askers by theirs.

    Attributes:
        known: What is in it, read past every scope.
    """

    product: Product
    known: Mapping[DocumentId, Document]

    @staticmethod
    async def of(product: Product) -> Result["ProductTarget"]:
        """List the home tenant's documents, and what is attached to them."""
        documents = product.retrieval.documents
        corpora = await documents.corpora(HOME)
        if isinstance(corpora, Err):
            return corpora
        known: dict[DocumentId, Document] = {}
        for corpus in corpora.value:
            found = await _listed(documents, corpus.id)
            if isinstance(found, Err):
                return found
            known |= {document.id: document for document in found.value}
        return Ok(ProductTarget(product, known))

    def name_of(self, document: DocumentId) -> DocumentId:
        """Return a document by the name that cases use; what is not listed keeps its id."""
        found = self.known.get(document)
        return DocumentId(found.source_id) if found else document

    async def retrieve(self, question: str, asker: str, k: int) -> Result[Sequence[DocumentId]]:
        principal = await self._principal(asker)
        if isinstance(principal, Err):
            return principal
        corpora = tuple(sorted({d.corpus_id for d in self.known.values()}, key=str))
        found = await _documents(self.product.retrieval, question, principal.value, corpora, k)
        return found.map(lambda documents: [self.name_of(d) for d in documents])

    async def may_read(
        self, asker: str, documents: Sequence[DocumentId]
    ) -> Result[frozenset[DocumentId]]:
        principal = await self._principal(asker)
        if isinstance(principal, Err):
            return principal
        tokens = principal.value.own_tokens()
        allowed = {self.name_of(d.id) for d in self.known.values() if d.rule.admits(tokens)}
        return Ok(frozenset(documents) & allowed)

    async def _principal(self, asker: str) -> Result[Principal]:
        return await self.product.resolver.current(HOME, PrincipalId(asker))


async def _listed(documents: DocumentStorePort, corpus: CorpusId) -> Result[list[Document]]:
    """Return every document of a corpus of the home tenant, with what is attached to it."""
    listed: list[Document] = []
    after = ""
    while True:
        page = await documents.source_ids(HOME, corpus, after, _PAGE)
        if isinstance(page, Err):
            return page
        if not page.value:
            break
        after = page.value[-1][0]
        found = await documents.known(HOME, corpus, [source for source, _ in page.value])
        if isinstance(found, Err):
            return found
        listed += found.value
    for (
        document
    ) in listed:  # grows while it is walked: what is attached may have attachments itself
        attached = await documents.attached(HOME, document.id)
        if isinstance(attached, Err):
            return attached
        listed += attached.value
    return Ok(listed)


async def _documents(
    retrieval: RetrievalService,
    question: str,
    principal: Principal,
    corpora: tuple[CorpusId, ...],
    k: int,
) -> Result[Sequence[DocumentId]]:
    """Return the documents of the best passages: enough of these that k documents are among them."""
    request = RetrievalRequest(question, principal, corpora, k * MAX_PER_DOCUMENT)
    found = await retrieval.retrieve(request)
    if isinstance(found, Err):
        return found
    documents = dict.fromkeys(scored.chunk.document_id for scored in found.value.chosen)
    return Ok(list(documents)[:k])


def _reader(asker: str) -> Principal:
    groups = frozenset({READERS} if asker == ASKER else ())
    memberships = Memberships(groups, MembershipState.KNOWN, 1)
    return Principal(PrincipalId(asker), TENANT, PrincipalKind.HUMAN, frozenset(), memberships)


def _with_twins(
    texts: Sequence[Text], corpus: Corpus, clock: ClockPort
) -> Iterator[tuple[Document, Text]]:
    readers, others = (AccessRule.any_of(group_token(g)) for g in (READERS, OTHERS))
    for number, text in enumerate(texts):
        document = Document(
            id=text.id,
            tenant_id=TENANT,
            corpus_id=corpus.id,
            source_id=str(text.id),
            title=text.title,
            version=1,
            content_digest=str(text.id),
            rule=readers,
            media_type="text/plain",
            updated_at=clock.now(),
        )
        yield document, text
        if number % HIDDEN_EVERY == 0:
            twin = f"hidden-{text.id}"
            yield replace(document, id=DocumentId(twin), source_id=twin, rule=others), text


def _extracted(text: Text) -> ExtractedDocument:
    return ExtractedDocument(text.title, (Block(BlockKind.PARAGRAPH, text.body),), "text/plain")
