"""A whole product behind the rim, in memory: two companies, a scripted model, a clock that stands still."""

import asyncio
import json
import secrets
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import httpx2
import pytest
from starlette.applications import Starlette
from starlette.types import ASGIApp

from cogni_adapters.jwt.signer import sign_host_token
from cogni_adapters.jwt.verifier import JwtTokenVerifierAdapter
from cogni_adapters.memory.access_rules import MemoryAccessRulesAdapter
from cogni_adapters.memory.directory import MemoryDirectoryAdapter
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
from cogni_application.attachments import AttachmentService
from cogni_application.gaps import ADMINISTER, GapService
from cogni_application.indexing.index import IndexWriter
from cogni_application.lanes import LaneWorker
from cogni_application.proposals.proposals import ProposalService
from cogni_application.retrieval.retrieve import RetrievalService
from cogni_application.subjects import SubjectService
from cogni_application.turn.feedback import FeedbackService
from cogni_application.turn.run_turn import TurnCollaborators
from cogni_application.turn.seal import RunSealer
from cogni_application.turn.streams import RunStreams
from cogni_application.turn.take_turn import TurnService
from cogni_application.turn.transcripts import TranscriptService
from cogni_application.turn.widgets import WidgetService
from cogni_domain.access.directory import Account, Issuer, Tenant
from cogni_domain.access.grants import Grant, GrantCatalogue
from cogni_domain.access.principal import MembershipState, PrincipalKind
from cogni_domain.access.resolver import PrincipalResolver
from cogni_domain.access.rule import AccessRule
from cogni_domain.access.scope import Scope, ScopePolicy
from cogni_domain.access.tokens import user_token
from cogni_domain.access.tool_offer import ToolCatalogue, ToolContext, ToolRegistryComposer
from cogni_domain.governance.profiles import DEFAULT_PROFILE, ProfileContent
from cogni_domain.jobs import PROPOSAL_EXECUTE, PROPOSAL_EXPIRE, Lane
from cogni_domain.knowledge.analysis import analyse
from cogni_domain.knowledge.chunking import ChunkPolicy
from cogni_domain.knowledge.extracted import (
    Attachment,
    Block,
    BlockKind,
    ExtractedDocument,
    Reason,
    Skipped,
)
from cogni_domain.knowledge.relevance import RelevancePolicy
from cogni_domain.lineage import LineagePolicy
from cogni_domain.ports.extractor import ExtractorPort
from cogni_domain.ports.model import ModelPort
from cogni_domain.ports.subject import SubjectPort
from cogni_domain.subjects import Subject, SubjectRef
from cogni_edge.http import EdgeServices, create_app
from cogni_edge.server import EdgeServer, listen
from cogni_edge.surface import SurfaceServices
from cogni_engine import (
    Arguments,
    Base,
    ChartPayload,
    Definition,
    Effect,
    Emitter,
    HealthState,
    Marker,
    MemoryReferenceStore,
    Message,
    Origin,
    Parameter,
    ParameterType,
    PlanPayload,
    PlanStep,
    ReferenceStore,
    Renderable,
    Response,
    Role,
    Series,
    ToolCall,
    ToolResult,
    describe,
)
from cogni_kernel import (
    CorpusId,
    Err,
    Error,
    GrantKey,
    HumanText,
    ModelFacingText,
    NotFoundError,
    Ok,
    PrincipalId,
    Result,
    TaskClass,
    TenantId,
    UpstreamError,
)
from cogni_runtime.middleware import standard_pipeline
from cogni_surfaces import SurfaceRegistry
from cogni_testing import FrozenClock, HashEmbedder, LexicalReranker, corpus_fixture, ok

ACME, GLOBEX, CLOSED = "acme", "globex", "closed"
AUDIENCE, HOST = "cogni", "https://host.example"
PEOPLE = {"alice": ACME, "bob": ACME, "hana": ACME, "mallory": GLOBEX, "carol": CLOSED}
BOOK = GrantKey("rooms.book")

LEAVE = "Everybody gets 20 weeks of parental leave on full pay."
SALARIES = "The salary band of an engineer is 64 to 82 thousand."

QUESTION = "How much parental leave is there?"


class BookRoom(Base):
    """A change that waits for a person."""

    context: ToolContext
    definition = describe(
        "book_room",
        does="Book a meeting room.",
        use_when="the person asks to book a room",
        do_not_use="for anything else",
        parameters=(Parameter("room", ParameterType.STRING, ModelFacingText("Which room.")),),
    )
    grant = BOOK
    effect = Effect.MUTATE
    booked: list[str] = []  # noqa: RUF012 - what all of its calls did

    async def preview(self, args: Arguments) -> Renderable | Error:
        return PlanPayload("Book a room", (PlanStep("Room", str(args["room"])),))

    async def call(self, args: Arguments) -> ToolResult | Error:
        self.booked.append(str(args["room"]))
        return ToolResult.data(f"Booked: {args['room']}.")


class ShowFigures(Base):
    """A chart."""

    context: ToolContext
    definition = describe(
        "show_figures",
        does="Show figures as a chart.",
        use_when="the person asks for a chart",
        do_not_use="for anything else",
    )
    grant = BOOK
    effect = Effect.READ

    async def call(self, args: Arguments) -> ToolResult | Error:
        chart = ChartPayload("People", ("Q1", "Q2"), (Series("Berlin", (3, None)),), unit="people")
        return ToolResult.marker(await self.emit(chart), chart.summary_for_model())


class PlainExtractor(ExtractorPort):
    """Reads UTF-8 and the files behind it: each after a record separator, its name up to a unit separator."""

    async def extract(self, name: str, data: bytes) -> ExtractedDocument | Skipped:
        own, *inside = data.split(b"\x1e")
        try:
            text = own.decode()
        except UnicodeDecodeError:
            return Skipped(Reason.UNSUPPORTED, "This kind of file cannot be read. Send it as text.")
        parts = [part.partition(b"\x1f") for part in inside]
        files = tuple(Attachment(called.decode(), rest) for called, _, rest in parts)
        return ExtractedDocument(name, (Block(BlockKind.PARAGRAPH, text),), "text/plain", files)


class Records(SubjectPort):
    """What the host product shows: a page that is a document, and a person who is none."""

    async def resolve(self, ref: SubjectRef, scope: Scope) -> Result[Subject]:
        if (ref.kind, ref.id) == ("person", "bob") and ref.tenant_id == TenantId(ACME):
            return Ok(Subject(ref, "Bob", "Bob keeps the keys of the archive."))
        return Err(NotFoundError(HumanText("No such record.")))


@dataclass
class ScriptedModel(ModelPort):
    """Says `pieces`, or books a room where the question asks for it.

    Attributes:
        pause: Where set, waits for it after the first piece.
        state: What `health` says.
        fails: An error instead of an answer.
        mentions_chart: Whether an answer about a chart shows it.
    """

    pieces: Sequence[str] = ("Everybody gets ", "20 weeks ", "of parental leave [s1].")
    pause: asyncio.Event | None = None
    state: HealthState = HealthState.HEALTHY
    fails: Error | None = None
    mentions_chart: bool = True
    asked: int = 0

    @property
    def model_version(self) -> str:
        return "scripted@1"

    @property
    def task_class(self) -> TaskClass:
        return TaskClass.CONVERSATIONAL

    def health(self) -> HealthState:
        return self.state

    async def complete(
        self, messages: Sequence[Message], tools: Sequence[Definition], emitter: Emitter | None
    ) -> Result[Response]:
        self.asked += 1
        if self.fails is not None:
            return Err(self.fails)
        if any("book" in m.text.lower() for m in messages if m.role.value == "user"):
            arguments = json.dumps({"room": "Atrium"})
            return Ok(Response("", (ToolCall("c1", "book_room", arguments),), None, "scripted@1"))
        if any("chart" in m.text.lower() for m in messages if m.origin is Origin.QUESTION):
            return self._charted(messages, emitter)
        assert emitter is not None
        for piece in self.pieces:
            emitter.emit_token(piece)
            await asyncio.sleep(0)
            if self.pause is not None:
                await self.pause.wait()
        return Ok(Response("".join(self.pieces), (), None, "scripted@1"))

    def _charted(self, messages: Sequence[Message], emitter: Emitter | None) -> Result[Response]:
        """Ask for the figures, then put their marker into the answer."""
        told = [m.text for m in messages if m.role is Role.TOOL]
        if not told:
            return Ok(Response("", (ToolCall("c1", "show_figures", "{}"),), None, "scripted@1"))
        assert emitter is not None
        shown = Marker.scan(told[-1])[0] if self.mentions_chart else "elsewhere"
        emitter.emit_token(f"Here it is: {shown}")
        return Ok(Response("", (), None, "scripted@1"))


@dataclass(frozen=True)
class Event:
    """One server-sent event as it was read."""

    id: int
    name: str
    data: Mapping[str, object]


@dataclass
class World:
    """The product, and clients of it."""

    app: ASGIApp
    services: EdgeServices
    model: ScriptedModel
    clock: FrozenClock
    state: MemoryState
    directory: MemoryDirectoryAdapter
    documents: MemoryDocumentStoreAdapter
    issuers: Mapping[str, Issuer]
    background: list[asyncio.Task[None]] = field(default_factory=list)
    unready: str | None = None
    booked: list[str] = field(default_factory=lambda: BookRoom.booked)
    server: EdgeServer | None = None

    def token(self, person: str = "alice") -> str:
        """Return a good token of a person."""
        issuer = self.issuers[PEOPLE[person]]
        return sign_host_token(issuer, person, self.clock, timedelta(minutes=5))

    def headers(self, person: str | None = "alice", **more: str) -> dict[str, str]:
        """Return the headers of a person's request; underscores in names stand for hyphens."""
        signed = {"Authorization": f"Bearer {self.token(person)}"} if person else {}
        return signed | {name.replace("_", "-"): value for name, value in more.items()}

    def client(self, host: str = "127.0.0.1") -> httpx2.AsyncClient:
        """Return a client that comes from `host`."""
        transport = httpx2.ASGITransport(self.app, client=(host, 1), raise_app_exceptions=False)
        return httpx2.AsyncClient(transport=transport, base_url="http://edge")

    def read(self, text: str) -> list[Event]:
        """Read a stream as the WHATWG says, with nothing but LF to end a line."""
        events = []
        for block in text.split("\n\n"):
            lines = [line for line in block.split("\n") if line and line[0] != ":"]
            fields = {name: value for name, _, value in (line.partition(": ") for line in lines)}
            if fields:
                assert set(fields) == {"id", "event", "data"}
                events.append(Event(int(fields["id"]), fields["event"], json.loads(fields["data"])))
        return events

    async def call(
        self, method: str, path: str, person: str | None = "alice", **request: Any
    ) -> httpx2.Response:
        """Call as a person; `headers` are added to theirs."""
        headers = self.headers(person) | request.pop("headers", {})
        async with self.client() as client:
            return await client.request(method, path, headers=headers, **request)

    async def ask(
        self, message: str = QUESTION, person: str = "alice", **body: object
    ) -> dict[str, Any]:
        """Ask, and wait for the outcome."""
        answer = await self.call("POST", "/v1/turns", person, json={"message": message, **body})
        assert answer.status_code == 200, answer.text
        outcome: dict[str, Any] = answer.json()
        return outcome

    async def stream(self, message: str = QUESTION, person: str = "alice") -> list[Event]:
        """Ask, and return every event."""
        headers = {"Accept": "text/event-stream"}
        body = {"message": message}
        answer = await self.call("POST", "/v1/turns", person, json=body, headers=headers)
        assert answer.headers["content-type"] == "text/event-stream; charset=utf-8"
        return self.read(answer.text)

    async def resume(self, run: object, after: object = None, person: str = "alice") -> list[Event]:
        """Return the events of a run after a cursor."""
        headers = {} if after is None else {"Last-Event-ID": str(after)}
        answer = await self.call("GET", f"/v1/runs/{run}/events", person, headers=headers)
        assert answer.status_code == 200, answer.text
        return self.read(answer.text)


@pytest.fixture
def references() -> ReferenceStore:
    """Where charts are kept."""
    return MemoryReferenceStore()


@pytest.fixture
async def world(references: ReferenceStore) -> AsyncIterator[World]:
    """Two companies with a page each, and a third that is switched off."""
    BookRoom.booked.clear()
    state, clock, model = MemoryState(), FrozenClock(), ScriptedModel()
    documents = MemoryDocumentStoreAdapter(state)
    directory, issuers = await _directory()
    book, administer = HumanText("Book rooms"), HumanText("Administer")
    catalogue = GrantCatalogue(
        [
            Grant(BOOK, book, HumanText("For tests.")),
            Grant(ADMINISTER, administer, HumanText("For tests.")),
        ]
    )
    tools = ToolCatalogue(catalogue, [BookRoom, ShowFigures])
    resolver = PrincipalResolver(JwtTokenVerifierAdapter(directory, clock), directory, catalogue)
    scopes = ScopePolicy(MemoryAccessRulesAdapter(state))
    log, transcripts = MemoryRunLogAdapter(state), MemoryTranscriptStoreAdapter(state, clock)
    streams = RunStreams(log, on_lost=lambda _: None)
    lineage, durable = LineagePolicy(documents), MemoryDurableAdapter(state)
    retrieval = await _retrieval(documents, scopes, clock)
    attachments = AttachmentService(
        documents,
        PlainExtractor(),
        transcripts,
        IndexWriter(documents, retrieval.keywords, retrieval.vectors, retrieval.embedder),
        ChunkPolicy(),
        clock,
        _id,
    )
    shared = TurnCollaborators(
        retrieval=retrieval,
        transcripts=transcripts,
        references=references,
        lineage=lineage,
        model=model,
        streams=streams,
        clock=clock,
        resources={},
        subjects=SubjectService(Records(), documents, scopes),
        attachments=attachments,
    )
    turns = TurnService(
        scopes=scopes,
        composer=ToolRegistryComposer(tools),
        profiles=await _profiles(clock),
        run_log=log,
        sealer=RunSealer(log, streams, durable, clock, _id),
        shared=shared,
        new_id=_id,
        owner="edge",
    )
    proposals = ProposalService(
        MemoryProposalStoreAdapter(state),
        durable,
        transcripts,
        resolver,
        scopes,
        documents,
        tools,
        clock,
        {},
    )
    reopened = TranscriptService(turns, streams, log, transcripts, documents, scopes, lineage)
    services = EdgeServices(
        standard_pipeline(resolver),
        turns,
        reopened,
        proposals,
        lambda: _admits(model),
        lambda: _ready(made),
        SurfaceServices(
            SurfaceRegistry(directory),
            reopened,
            WidgetService(reopened, log, shared.references),
            FeedbackService(reopened, transcripts, clock, _id),
            attachments,
            shared.subjects,
        ),
        gaps=GapService(documents),
    )
    app = create_app(services, _no_lifespan)
    made = World(app, services, model, clock, state, directory, documents, issuers)
    handlers = {PROPOSAL_EXECUTE: proposals.execute, PROPOSAL_EXPIRE: proposals.expire}
    lane = LaneWorker(MemoryQueueAdapter(state, clock), Lane.CONVERSATIONAL, handlers)
    work = (streams.write(), turns.keep_leases(), lane.work())
    made.background = [asyncio.create_task(each) for each in work]
    yield made
    await turns.drain()
    for task in made.background:
        task.cancel()
    await asyncio.wait(made.background)


@pytest.fixture
async def served(world: World) -> AsyncIterator[httpx2.AsyncClient]:
    """A client of the world over a real socket."""
    listening = ok(listen("127.0.0.1", 0))
    port = listening.getsockname()[1]
    world.server = EdgeServer(world.app, world.services.turns.drain)
    serving = asyncio.create_task(world.server.serve([listening]))
    while not world.server.started:
        await asyncio.sleep(0.01)
    async with httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}", trust_env=False) as client:
        yield client
    world.server.should_exit = True
    await serving


def _id() -> str:
    return secrets.token_hex(8)


def _admits(model: ScriptedModel) -> Result[None]:
    if model.state is HealthState.DOWN:
        message = HumanText("The language model does not answer.")
        return Err(UpstreamError(message, detail={"retry_after_s": 6.2}))
    return Ok(None)


async def _ready(world: World) -> str | None:
    return world.unready


@asynccontextmanager
async def _no_lifespan(_: Starlette) -> AsyncIterator[None]:
    yield


async def _directory() -> tuple[MemoryDirectoryAdapter, dict[str, Issuer]]:
    directory, issuers = MemoryDirectoryAdapter(), {}
    for name in (ACME, GLOBEX, CLOSED):
        tenant = TenantId(name)
        key = f"{name}-secret-of-at-least-thirty-two-bytes"
        issuers[name] = Issuer(
            f"key-{name}", tenant, "HS256", key, HOST, AUDIENCE, loopback_only=True
        )
        ok(await directory.put_tenant(Tenant(tenant, name, enabled=name != CLOSED)))
        ok(await directory.put_issuer(issuers[name]))
    for person, company in PEOPLE.items():
        tenant, principal = TenantId(company), PrincipalId(person)
        groups = frozenset({"directory/hr"} if person == "hana" else ())
        account = Account(principal, tenant, PrincipalKind.HUMAN, person.title())
        ok(await directory.put_account(account, person))
        ok(await directory.set_memberships(tenant, principal, groups, MembershipState.KNOWN))
        ok(await directory.set_grants(tenant, user_token(principal), frozenset({BOOK})))
    return directory, issuers


async def _profiles(clock: FrozenClock) -> MemoryProfileStoreAdapter:
    profiles, somebody = MemoryProfileStoreAdapter(clock), PrincipalId("administrator")
    for name in (ACME, GLOBEX, CLOSED):
        content = ProfileContent(ModelFacingText("Help."), (CorpusId("handbook"),))
        drafted = ok(await profiles.draft(TenantId(name), DEFAULT_PROFILE, content, somebody))
        ok(await profiles.elect(TenantId(name), DEFAULT_PROFILE, drafted.number, somebody))
    return profiles


async def _retrieval(
    documents: MemoryDocumentStoreAdapter, scopes: ScopePolicy, clock: FrozenClock
) -> RetrievalService:
    vectors, keywords = MemoryVectorStoreAdapter(), MemoryKeywordSearchAdapter()
    embedder = HashEmbedder()
    everyone, hr = AccessRule.everyone(), AccessRule.any_of("g:directory/hr")
    pages = {
        ACME: (
            {"Parental leave": LEAVE, "Salaries": SALARIES},
            {"Parental leave": everyone, "Salaries": hr},
        ),
        GLOBEX: ({"Parental leave": LEAVE}, {"Parental leave": everyone}),
    }
    for tenant, (texts, rules) in pages.items():
        made = corpus_fixture(texts, rules, tenant=tenant)
        corpus = ok(await documents.put_corpus(made.corpus))
        ok(await documents.note_indexed_through(corpus, clock.now()))
        for document in made.documents:
            ok(await documents.put(document, made.chunks_of(document), ()))
        indexed = [chunk.indexed_text for chunk in made.chunks]
        ok(await vectors.upsert(corpus.index, made.chunks, ok(await embedder.embed(indexed))))
        ok(await keywords.upsert(corpus.index, made.chunks, list(map(analyse, indexed))))
    policy = RelevancePolicy(0.3)
    return RetrievalService(
        scopes, documents, keywords, vectors, embedder, LexicalReranker(), policy
    )
