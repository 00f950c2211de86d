"""A whole turn in a test: the product's own services over doubles, without a network or a database."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import TypedDict, Unpack

from cogni_adapters.memory.access_rules import MemoryAccessRulesAdapter
from cogni_adapters.memory.documents import MemoryDocumentStoreAdapter
from cogni_adapters.memory.durable import MemoryDurableAdapter
from cogni_adapters.memory.keyword_search import MemoryKeywordSearchAdapter
from cogni_adapters.memory.profiles import MemoryProfileStoreAdapter
from cogni_adapters.memory.run_log import MemoryRunLogAdapter
from cogni_adapters.memory.state import MemoryState
from cogni_adapters.memory.transcripts import MemoryTranscriptStoreAdapter
from cogni_adapters.memory.vector_store import MemoryVectorStoreAdapter
from cogni_adapters.recorded.model import RecordedModelAdapter
from cogni_application.retrieval.retrieve import RetrievalService
from cogni_application.turn.run_turn import TurnCollaborators
from cogni_application.turn.seal import RunSealer
from cogni_application.turn.streams import RunStreams
from cogni_application.turn.take_turn import TurnRequest, TurnService
from cogni_domain.access.grants import Grant, GrantCatalogue
from cogni_domain.access.principal import Principal
from cogni_domain.access.rule import AccessRule
from cogni_domain.access.scope import ScopePolicy
from cogni_domain.access.tool_offer import ToolCatalogue, ToolRegistryComposer
from cogni_domain.governance.profiles import DEFAULT_PROFILE, ProfileContent
from cogni_domain.knowledge.analysis import analyse
from cogni_domain.knowledge.corpus import Chunk, ScoredChunk
from cogni_domain.knowledge.relevance import RelevancePolicy
from cogni_domain.lineage import LineagePolicy
from cogni_domain.ports.model import ModelPort
from cogni_domain.ports.reranker import RerankerPort
from cogni_domain.run_record import RunRecord
from cogni_engine import Base, MemoryReferenceStore, Response
from cogni_kernel import Error, HumanText, ModelFacingText, Ok, Result
from cogni_testing.assertions import ok
from cogni_testing.doubles import FrozenClock, HashEmbedder, LexicalReranker, SequentialIds
from cogni_testing.fixtures import CorpusFixture, corpus_fixture, fake_principal

PATIENCE_S = 130.0
"""Longer than a turn may take; a run that is not sealed by then never will be."""

INJECTED = "A page that somebody else wrote"
ENOUGH = RelevancePolicy(0.3)
"""Of the lexical reranker's scores: three in ten of the question's telling words."""

SMALL = corpus_fixture(
    {"Opening hours": "The office is open from nine to five."},
    {"Opening hours": AccessRule.everyone()},
)


class Overrides(TypedDict, total=False):
    """What a test may replace; the meaning is that of `Harness`'s attributes."""

    tools: Sequence[type[Base]]
    script: Sequence[Response | Error]
    model: ModelPort | None
    corpus: CorpusFixture
    resources: Mapping[type, object]
    instructions: str
    grounded: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Harness:
    """Every port bound to a double. Each turn stands alone: it begins with the same data and no history.

    Attributes:
        tools: What may be offered; a person is offered those whose grant they have.
        script: What the model says and asks for, replayed from its beginning in every turn.
        model: Used as it is instead of the script, for a test that looks at what it was sent.
        corpus: What can be retrieved, with who may read it.
        resources: What the tools name in their `requires`.
        instructions: The elected profile's words to the model.
        grounded: Whether the question is searched for before the model is asked.

    Source:
        COGNI.BUILD spec, package testing, "Harness".
    """

    tools: Sequence[type[Base]] = ()
    script: Sequence[Response | Error] = ()
    model: ModelPort | None = None
    corpus: CorpusFixture = SMALL
    resources: Mapping[type, object] = field(default_factory=dict)
    instructions: str = ""
    grounded: bool = True

    @staticmethod
    def build(**overrides: Unpack[Overrides]) -> "Harness":
        """Return a harness of doubles with these parts replaced."""
        return Harness(**overrides)

    @property
    def principal(self) -> Principal:
        """A person of the corpus's tenant who has the grant of every tool."""
        grants = [str(tool.grant) for tool in self.tools]
        return fake_principal(grants, str(self.corpus.corpus.tenant_id))

    def with_empty_retrieval(self) -> "Harness":
        """Return a harness in which there is nothing to be found."""
        return replace(self, corpus=replace(self.corpus, documents=(), chunks=()))

    def with_injected_corpus(self, payload: str) -> "Harness":
        """Return a harness in which every search also finds a page with this text, which all may read."""
        place = self.corpus.corpus
        page = corpus_fixture(
            {INJECTED: payload},
            {INJECTED: AccessRule.everyone()},
            tenant=str(place.tenant_id),
            corpus=str(place.id),
        )
        documents = (*self.corpus.documents, *page.documents)
        chunks = (*self.corpus.chunks, *page.chunks)
        return replace(self, corpus=CorpusFixture(place, documents, chunks))

    async def turn(self, text: str, as_: Principal | None = None) -> RunRecord:
        """Ask `text`, for `as_` or for who may use every tool; return the run's sealed record.

        Fails, showing the error, where no run is opened: the question is blank, or the person has no scope.
        """
        asking = as_ or self.principal
        state, clock = MemoryState(), FrozenClock()
        transcripts = MemoryTranscriptStoreAdapter(state, clock)
        async with self._service(state, clock) as (turns, streams):
            opened = ok(await turns.start(TurnRequest(text), asking))
            async with asyncio.timeout(PATIENCE_S):
                async for _ in streams.follow(opened.run_ref, 0):
                    pass
        reader = fake_principal(tenant=str(asking.tenant_id), id="harness")
        return ok(await transcripts.read(opened.run_ref, reader, HumanText("A test looks at it.")))

    @asynccontextmanager
    async def _service(
        self, state: MemoryState, clock: FrozenClock
    ) -> AsyncIterator[tuple[TurnService, RunStreams]]:
        log, new_id = MemoryRunLogAdapter(state), SequentialIds()
        streams = RunStreams(log, on_lost=lambda _: None)
        documents = MemoryDocumentStoreAdapter(state)
        scopes = ScopePolicy(MemoryAccessRulesAdapter(state))
        shared = TurnCollaborators(
            retrieval=await self._retrieval(documents, scopes, clock),
            transcripts=MemoryTranscriptStoreAdapter(state, clock),
            references=MemoryReferenceStore(),
            lineage=LineagePolicy(documents),
            model=self.model or RecordedModelAdapter(self.script),
            streams=streams,
            clock=clock,
            resources=self.resources,
        )
        turns = TurnService(
            scopes=scopes,
            composer=self._composer(),
            profiles=await self._profiles(clock),
            run_log=log,
            sealer=RunSealer(log, streams, MemoryDurableAdapter(state), clock, new_id),
            shared=shared,
            new_id=new_id,
            owner="harness",
        )
        writer = asyncio.create_task(streams.write())
        try:
            yield turns, streams
        finally:
            await turns.drain()
            writer.cancel()
            await asyncio.wait([writer])

    def _composer(self) -> ToolRegistryComposer:
        keys = dict.fromkeys(tool.grant for tool in self.tools)
        grants = [Grant(key, HumanText(str(key)), HumanText("For this test.")) for key in keys]
        return ToolRegistryComposer(ToolCatalogue(GrantCatalogue(grants), self.tools))

    async def _profiles(self, clock: FrozenClock) -> MemoryProfileStoreAdapter:
        tenant, somebody = self.corpus.corpus.tenant_id, self.principal.id
        content = ProfileContent(
            ModelFacingText(self.instructions), (self.corpus.corpus.id,), self.grounded
        )
        profiles = MemoryProfileStoreAdapter(clock)
        drafted = ok(await profiles.draft(tenant, DEFAULT_PROFILE, content, somebody))
        ok(await profiles.elect(tenant, DEFAULT_PROFILE, drafted.number, somebody))
        return profiles

    async def _retrieval(
        self, documents: MemoryDocumentStoreAdapter, scopes: ScopePolicy, clock: FrozenClock
    ) -> RetrievalService:
        embedder = HashEmbedder()
        vectors, keywords = MemoryVectorStoreAdapter(), MemoryKeywordSearchAdapter()
        corpus = ok(await documents.put_corpus(self.corpus.corpus))
        ok(await documents.note_indexed_through(corpus, clock.now()))
        for document in self.corpus.documents:
            ok(await documents.put(document, self.corpus.chunks_of(document), ()))
        texts = [chunk.indexed_text for chunk in self.corpus.chunks]
        embedded = ok(await embedder.embed(texts))
        ok(await vectors.upsert(corpus.index, self.corpus.chunks, embedded))
        ok(await keywords.upsert(corpus.index, self.corpus.chunks, list(map(analyse, texts))))
        return RetrievalService(
            scopes, documents, keywords, vectors, embedder, _InjectedFirst(), ENOUGH
        )


class _InjectedFirst(RerankerPort):
    """Ranks by words, and takes an injected page for the best answer to anything."""

    async def rank(self, question: str, chunks: Sequence[Chunk]) -> Result[Sequence[ScoredChunk]]:
        ranked = ok(await LexicalReranker().rank(question, chunks))
        lifted = [replace(h, score=1.0) if h.chunk.title == INJECTED else h for h in ranked]
        return Ok(sorted(lifted, key=lambda hit: -hit.score))
