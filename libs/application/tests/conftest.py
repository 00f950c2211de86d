"""A product of memory: the application services of one process over doubles, its ports open to a test."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

import pytest

from cogni_adapters.memory.access_rules import MemoryAccessRulesAdapter
from cogni_adapters.memory.documents import MemoryDocumentStoreAdapter
from cogni_adapters.memory.durable import MemoryDurableAdapter
from cogni_adapters.memory.keyword_search import MemoryKeywordSearchAdapter
from cogni_adapters.memory.profiles import MemoryProfileStoreAdapter
from cogni_adapters.memory.proposals import MemoryProposalStoreAdapter
from cogni_adapters.memory.queue import MemoryQueueAdapter
from cogni_adapters.memory.run_log import MemoryRunLogAdapter
from cogni_adapters.memory.state import MemoryState
from cogni_adapters.memory.transcripts import MemoryTranscriptStoreAdapter
from cogni_adapters.memory.vector_store import MemoryVectorStoreAdapter
from cogni_application.retrieval.retrieve import RetrievalService
from cogni_application.turn.reaper import Reaper
from cogni_application.turn.run_turn import TurnCollaborators
from cogni_application.turn.seal import RunSealer
from cogni_application.turn.streams import RunStreams
from cogni_application.turn.take_turn import TurnRequest, TurnService
from cogni_application.turn.transcripts import TranscriptService
from cogni_domain.access.grants import Grant, GrantCatalogue
from cogni_domain.access.principal import Principal
from cogni_domain.access.rule import AccessRule
from cogni_domain.access.scope import ScopePolicy
from cogni_domain.access.tool_offer import ToolCatalogue, ToolRegistryComposer
from cogni_domain.governance.profiles import DEFAULT_PROFILE, ProfileContent
from cogni_domain.knowledge.analysis import analyse
from cogni_domain.knowledge.corpus import Chunk, Document
from cogni_domain.knowledge.relevance import RelevancePolicy
from cogni_domain.lineage import LineagePolicy
from cogni_domain.ports.model import ModelPort
from cogni_domain.ports.run_log import NumberedDelta, Opened
from cogni_engine import Base, MemoryReferenceStore, Response, RunBounds
from cogni_kernel import (
    Err,
    Error,
    HumanText,
    ModelFacingText,
    PrincipalId,
    RunRef,
    TenantId,
    UpstreamError,
)
from cogni_testing import (
    CorpusFixture,
    FrozenClock,
    HashEmbedder,
    LexicalReranker,
    RecordedModel,
    SequentialIds,
    corpus_fixture,
    fake_principal,
    ok,
)

T = TypeVar("T")

DOWN = Err(UpstreamError(HumanText("The database does not answer.")))
LEAVE = corpus_fixture(
    {
        "Parental leave": "Parental leave is twenty-six weeks.\n\nAsk the people team about leave.",
        "Exceptions": "Exceptions to parental leave are decided by the people team.",
    },
    {"Parental leave": AccessRule.everyone(), "Exceptions": AccessRule.any_of("g:wiki/hr")},
)


class Failing:
    """A port whose calls fail as long as `is_down` says so of their names."""

    def __init__(self, port: object, is_down: Callable[[str], bool], *, raises: bool) -> None:
        self._port = port
        self._is_down = is_down
        self._raises = raises

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._port, name)

        async def call(*args: Any, **kwargs: Any) -> Any:
            if not self._is_down(name):
                return await method(*args, **kwargs)
            if self._raises:
                raise OSError(f"{name} broke")
            return DOWN

        return call


@dataclass
class World:
    """One process over a state that a test may share between several.

    Attributes:
        is_down: Which calls fail now: of the run log, the transcript store, the access rules, and of the
            documents where a run is reopened.
        raises: Whether a failing call raises instead of returning an error.
    """

    state: MemoryState
    clock: FrozenClock
    owner: str
    script: Sequence[Response | Error]
    model: ModelPort | None
    tools: Sequence[type[Base]]
    corpus: CorpusFixture
    grounded: bool
    bounds: RunBounds
    resources: Mapping[type, object]
    is_down: Callable[[str], bool] = lambda _: False
    raises: bool = False

    def __post_init__(self) -> None:
        self.new_id = SequentialIds(self.owner)
        self.documents = MemoryDocumentStoreAdapter(self.state)
        rules = self._open_to_failure(MemoryAccessRulesAdapter(self.state))
        self.scopes = ScopePolicy(rules)
        self.log = self._open_to_failure(MemoryRunLogAdapter(self.state))
        self.transcripts = self._open_to_failure(
            MemoryTranscriptStoreAdapter(self.state, self.clock)
        )
        self.proposals = MemoryProposalStoreAdapter(self.state)
        self.durable = MemoryDurableAdapter(self.state)
        self.references = MemoryReferenceStore()
        self.queue = MemoryQueueAdapter(self.state, self.clock)
        self.profiles = MemoryProfileStoreAdapter(self.clock)
        self.vectors, self.keywords = MemoryVectorStoreAdapter(), MemoryKeywordSearchAdapter()
        self.embedder = HashEmbedder()
        self.retrieval = RetrievalService(
            self.scopes,
            self.documents,
            self.keywords,
            self.vectors,
            self.embedder,
            LexicalReranker(),
            RelevancePolicy(0.3),
        )
        self.streams = RunStreams(self.log, on_lost=self._lost)
        self.turns = self._turns()
        self.service = TranscriptService(
            self.turns,
            self.streams,
            self.log,
            self.transcripts,
            self._open_to_failure(self.documents),
            self.scopes,
            LineagePolicy(self._open_to_failure(self.documents)),
        )
        self.reaper = Reaper(self.log, self.transcripts, self.clock)

    def _open_to_failure(self, port: T) -> T:
        failing: Any = Failing(port, self._is_down, raises=self.raises)
        return failing  # type: ignore[no-any-return]

    def _is_down(self, name: str) -> bool:
        return self.is_down(name)

    def _lost(self, run: RunRef) -> None:
        self.turns.cancel(run)

    def _turns(self) -> TurnService:
        keys = dict.fromkeys(tool.grant for tool in self.tools)
        grants = [Grant(key, HumanText(str(key)), HumanText("For this test.")) for key in keys]
        self.catalogue = GrantCatalogue(grants)
        self.tool_catalogue = ToolCatalogue(self.catalogue, self.tools)
        self.used = self.model or RecordedModel(self.script)
        shared = TurnCollaborators(
            retrieval=self.retrieval,
            transcripts=self.transcripts,
            references=self.references,
            lineage=LineagePolicy(self.documents),
            model=self.used,
            streams=self.streams,
            clock=self.clock,
            resources=self.resources,
        )
        return TurnService(
            scopes=self.scopes,
            composer=ToolRegistryComposer(self.tool_catalogue),
            profiles=self.profiles,
            run_log=self.log,
            sealer=RunSealer(self.log, self.streams, self.durable, self.clock, self.new_id),
            shared=shared,
            new_id=self.new_id,
            owner=self.owner,
        )

    @property
    def alice(self) -> Principal:
        """A person of the tenant who may use every tool, and is not of HR."""
        return fake_principal([str(tool.grant) for tool in self.tools])

    async def plant(self) -> None:
        """Put the corpus into the stores, and elect a profile that looks there."""
        tenant, somebody = TenantId("acme"), PrincipalId("admin")
        place = ok(await self.documents.put_corpus(self.corpus.corpus))
        ok(await self.documents.note_indexed_through(place, self.clock.now()))
        for document in self.corpus.documents:
            await self.put(document, self.corpus.chunks_of(document))
        content = ProfileContent(
            ModelFacingText("Be brief."), (place.id,), self.grounded, self.bounds
        )
        drafted = ok(await self.profiles.draft(tenant, DEFAULT_PROFILE, content, somebody))
        ok(await self.profiles.elect(tenant, DEFAULT_PROFILE, drafted.number, somebody))

    async def put(self, document: Document, chunks: Sequence[Chunk]) -> None:
        """Write a document to the database and both indexes."""
        ok(await self.documents.put(document, chunks, ()))
        index = self.corpus.corpus.index
        texts = [chunk.indexed_text for chunk in chunks]
        ok(await self.vectors.upsert(index, chunks, ok(await self.embedder.embed(texts))))
        ok(await self.keywords.upsert(index, chunks, list(map(analyse, texts))))

    async def ask(self, message: str, principal: Principal | None = None, **request: Any) -> Opened:
        """Start a turn."""
        return ok(await self.turns.start(TurnRequest(message, **request), principal or self.alice))

    async def hear(self, run: RunRef, after: int = 0) -> list[NumberedDelta]:
        """Follow a run to its end."""
        async with asyncio.timeout(60):
            return [numbered async for numbered in self.streams.follow(run, after)]

    async def answer(
        self, message: str, principal: Principal | None = None, **request: Any
    ) -> dict[str, Any]:
        """Take a turn to its end; return its outcome."""
        opened = await self.ask(message, principal, **request)
        *_, last = await self.hear(opened.run_ref)
        outcome: Any = last.delta
        return dict(outcome.outcome)

    @asynccontextmanager
    async def running(self) -> AsyncIterator["World"]:
        """Do the work in the background that a process does; leave no run behind."""
        tasks = [asyncio.create_task(self.streams.write())]
        tasks.append(asyncio.create_task(self.turns.keep_leases()))
        try:
            yield self
        finally:
            self.is_down = lambda _: False
            await self.turns.drain()
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)


MakeWorld = Callable[..., Awaitable[World]]


@pytest.fixture
async def make_world() -> AsyncIterator[MakeWorld]:
    """Builds running worlds; a second one over the state of the first is a second process."""
    opened: list[Any] = []

    async def make(
        script: Sequence[Response | Error] = (),
        *,
        beside: World | None = None,
        model: ModelPort | None = None,
        tools: Sequence[type[Base]] = (),
        corpus: CorpusFixture = LEAVE,
        grounded: bool = True,
        bounds: RunBounds | None = None,
        resources: Mapping[type, object] | None = None,
        **more: Any,
    ) -> World:
        world = World(
            beside.state if beside else MemoryState(),
            beside.clock if beside else FrozenClock(),
            f"process-{len(opened) + 1}",
            script,
            model,
            tools,
            corpus,
            grounded,
            bounds or RunBounds(),
            resources or {},
            **more,
        )
        await world.plant()
        context = world.running()
        await context.__aenter__()
        opened.append(context)
        return world

    yield make
    for context in reversed(opened):
        await context.__aexit__(None, None, None)
