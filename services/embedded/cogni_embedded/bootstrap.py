"""Putting the product together within one process."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass

from cogni_application.attachments import AttachmentService
from cogni_application.indexing.index import IndexWriter
from cogni_application.indexing.ingest import INGEST, IndexingService
from cogni_application.indexing.intake import INDEX, Intake
from cogni_application.indexing.standing import RELABEL, REMOVE
from cogni_application.lanes import Handler, LaneWorker
from cogni_application.proposals.proposals import ProposalService
from cogni_application.rebuild.filling import ShadowFiller
from cogni_application.rebuild.rebuild import FILL, PURGE, RebuildService
from cogni_application.rebuild.writing import DualWriter
from cogni_application.retrieval.retrieve import RetrievalService
from cogni_application.subjects import SubjectService
from cogni_application.turn.feedback import FeedbackService
from cogni_application.turn.reaper import Reaper
from cogni_application.turn.run_turn import TurnCollaborators
from cogni_application.turn.seal import RunSealer
from cogni_application.turn.streams import RunStreams
from cogni_application.turn.take_turn import TurnService
from cogni_application.turn.transcripts import TranscriptService
from cogni_application.turn.widgets import WidgetService
from cogni_domain.access.resolver import PrincipalResolver
from cogni_domain.access.scope import ScopePolicy
from cogni_domain.access.tool_offer import ToolCatalogue, ToolRegistryComposer
from cogni_domain.jobs import PROPOSAL_EXECUTE, PROPOSAL_EXPIRE, Lane
from cogni_domain.knowledge.chunking import ChunkPolicy
from cogni_domain.knowledge.relevance import RelevancePolicy
from cogni_domain.lineage import LineagePolicy
from cogni_domain.ports.access_rules import AccessRulesPort
from cogni_domain.ports.clock import ClockPort
from cogni_domain.ports.directory import DirectoryPort
from cogni_domain.ports.document_store import DocumentStorePort
from cogni_domain.ports.durable import DurablePort
from cogni_domain.ports.embedder import EmbedderPort
from cogni_domain.ports.extractor import ExtractorPort
from cogni_domain.ports.keyword_search import KeywordSearchPort
from cogni_domain.ports.model import ModelPort
from cogni_domain.ports.profile_store import ProfileStorePort
from cogni_domain.ports.proposal_store import ProposalStorePort
from cogni_domain.ports.queue import QueuePort
from cogni_domain.ports.rebuild_store import RebuildStorePort
from cogni_domain.ports.reranker import RerankerPort
from cogni_domain.ports.run_log import RunLogPort
from cogni_domain.ports.token_verifier import TokenVerifierPort
from cogni_domain.ports.transcript_store import TranscriptStorePort
from cogni_domain.ports.vector_store import VectorStorePort
from cogni_embedded.demo import Demo, DemoSeed, load_demo
from cogni_embedded.ingest_watch import IngestWatch
from cogni_embedded.leaving import Leaving, build_leaving
from cogni_embedded.sources import KnownFolders, Sources
from cogni_engine import ReferenceStore
from cogni_runtime.bindings import Bindings
from cogni_runtime.container import Container
from cogni_runtime.middleware import Pipeline, standard_pipeline


def new_id() -> str:
    """Return an id that nobody can guess."""
    return uuid.uuid4().hex


@dataclass(frozen=True, slots=True)
class Product:
    """The product, put together. Nothing runs before `Background` is started."""

    bindings: Bindings
    demo: Demo
    seed: DemoSeed
    resolver: PrincipalResolver
    pipeline: Pipeline
    streams: RunStreams
    turns: TurnService
    transcripts: TranscriptService
    widgets: WidgetService
    feedback: FeedbackService
    attachments: AttachmentService
    subjects: SubjectService
    proposals: ProposalService
    retrieval: RetrievalService
    indexing: IndexingService
    rebuilds: RebuildService
    sources: Sources
    watch: IngestWatch
    reaper: Reaper
    lanes: Mapping[Lane, LaneWorker]
    leaving: Leaving


def build(bindings: Bindings) -> Product:
    """Put the product together.

    Raises:
        DefinitionError: A tool is wrongly declared.
    """
    c = bindings.container
    demo = load_demo(c.resolve(ClockPort))
    catalogue = demo.catalogue
    tools = ToolCatalogue(catalogue, demo.tools)
    resolver = PrincipalResolver(c.resolve(TokenVerifierPort), c.resolve(DirectoryPort), catalogue)
    scopes = ScopePolicy(c.resolve(AccessRulesPort))
    retrieval = _retrieval(c, scopes)
    lineage = LineagePolicy(c.resolve(DocumentStorePort))
    streams = RunStreams(c.resolve(RunLogPort), on_lost=lambda run: turns.cancel(run))  # noqa: PLW0108 - bound below
    subjects = SubjectService(demo.subjects, c.resolve(DocumentStorePort), scopes)
    composer = ToolRegistryComposer(tools)
    attachments = _attachments(c)
    turns = _turns(c, scopes, composer, retrieval, lineage, streams, demo, subjects, attachments)
    transcripts = _transcripts(c, turns, streams, scopes, lineage)
    proposals = _proposals(c, resolver, scopes, tools, demo)
    watch = IngestWatch()
    known = KnownFolders(bindings.data / "folders.json" if bindings.data else None)
    sources = Sources(demo.intranets, c.resolve(ExtractorPort), known)
    indexing = _indexing(c, sources, watch)
    return Product(
        bindings=bindings,
        demo=demo,
        seed=_seed(c),
        resolver=resolver,
        pipeline=standard_pipeline(resolver),
        streams=streams,
        turns=turns,
        transcripts=transcripts,
        widgets=WidgetService(transcripts, c.resolve(RunLogPort), c.resolve(ReferenceStore)),
        feedback=FeedbackService(
            transcripts, c.resolve(TranscriptStorePort), c.resolve(ClockPort), new_id
        ),
        attachments=attachments,
        subjects=subjects,
        proposals=proposals,
        retrieval=retrieval,
        indexing=indexing,
        rebuilds=_rebuilds(c),
        sources=sources,
        watch=watch,
        reaper=Reaper(c.resolve(RunLogPort), c.resolve(TranscriptStorePort), c.resolve(ClockPort)),
        lanes=_lanes(c, sources.reading(indexing.ingest), watch, proposals),
        leaving=build_leaving(c),
    )


def _attachments(c: Container) -> AttachmentService:
    return AttachmentService(
        c.resolve(DocumentStorePort),
        c.resolve(ExtractorPort),
        c.resolve(TranscriptStorePort),
        _index_writer(c),
        ChunkPolicy(),
        c.resolve(ClockPort),
        new_id,
    )


def _index_writer(c: Container) -> IndexWriter:
    return IndexWriter(
        c.resolve(DocumentStorePort),
        c.resolve(KeywordSearchPort),
        c.resolve(VectorStorePort),
        c.resolve(EmbedderPort),
    )


def _transcripts(
    c: Container,
    turns: TurnService,
    streams: RunStreams,
    scopes: ScopePolicy,
    lineage: LineagePolicy,
) -> TranscriptService:
    return TranscriptService(
        turns,
        streams,
        c.resolve(RunLogPort),
        c.resolve(TranscriptStorePort),
        c.resolve(DocumentStorePort),
        scopes,
        lineage,
    )


def _retrieval(c: Container, scopes: ScopePolicy) -> RetrievalService:
    return RetrievalService(
        scopes,
        c.resolve(DocumentStorePort),
        c.resolve(KeywordSearchPort),
        c.resolve(VectorStorePort),
        c.resolve(EmbedderPort),
        c.resolve(RerankerPort),
        RelevancePolicy(),
    )


def _turns(  # noqa: PLR0913, PLR0917 - one assembly
    c: Container,
    scopes: ScopePolicy,
    composer: ToolRegistryComposer,
    retrieval: RetrievalService,
    lineage: LineagePolicy,
    streams: RunStreams,
    demo: Demo,
    subjects: SubjectService,
    attachments: AttachmentService,
) -> TurnService:
    clock = c.resolve(ClockPort)
    shared = TurnCollaborators(
        retrieval=retrieval,
        transcripts=c.resolve(TranscriptStorePort),
        references=c.resolve(ReferenceStore),
        lineage=lineage,
        model=c.resolve(ModelPort),
        streams=streams,
        clock=clock,
        resources=demo.resources,
        subjects=subjects,
        attachments=attachments,
    )
    return TurnService(
        scopes=scopes,
        composer=composer,
        profiles=c.resolve(ProfileStorePort),
        run_log=c.resolve(RunLogPort),
        sealer=RunSealer(c.resolve(RunLogPort), streams, c.resolve(DurablePort), clock, new_id),
        shared=shared,
        new_id=new_id,
        owner=new_id(),
    )


def _proposals(
    c: Container,
    resolver: PrincipalResolver,
    scopes: ScopePolicy,
    tools: ToolCatalogue,
    demo: Demo,
) -> ProposalService:
    return ProposalService(
        c.resolve(ProposalStorePort),
        c.resolve(DurablePort),
        c.resolve(TranscriptStorePort),
        resolver,
        scopes,
        c.resolve(DocumentStorePort),
        tools,
        c.resolve(ClockPort),
        demo.resources,
    )


def _indexing(c: Container, sources: Sources, watch: IngestWatch) -> IndexingService:
    documents, clock = c.resolve(DocumentStorePort), c.resolve(ClockPort)
    intake = Intake(documents, c.resolve(ExtractorPort), ChunkPolicy(), clock, new_id)
    return IndexingService(
        documents, c.resolve(QueuePort), intake, clock, sources.connector_of, watch.note
    )


def _rebuilds(c: Container) -> RebuildService:
    version = c.resolve(EmbedderPort).version
    return RebuildService(
        c.resolve(RebuildStorePort),
        c.resolve(DocumentStorePort),
        c.resolve(ClockPort),
        version,
        frozenset({version}),
    )


def _lanes(
    c: Container, ingest: Handler, watch: IngestWatch, proposals: ProposalService
) -> Mapping[Lane, LaneWorker]:
    writer, rebuilds = _index_writer(c), c.resolve(RebuildStorePort)
    dual = DualWriter(rebuilds, writer, {writer.embedder.version: writer})
    filler = ShadowFiller(rebuilds, writer, c.resolve(ClockPort))
    queue = c.resolve(QueuePort)
    index = {
        REMOVE: watch.watched(dual.remove),
        RELABEL: watch.watched(dual.relabel),
        INDEX: watch.watched(dual.index),
        FILL: watch.watched(filler.fill),
        PURGE: watch.watched(filler.purge),
        INGEST: watch.watched(ingest),
    }
    decide = {PROPOSAL_EXPIRE: proposals.expire, PROPOSAL_EXECUTE: proposals.execute}
    return {
        Lane.INDEXING: LaneWorker(queue, Lane.INDEXING, index),
        Lane.CONVERSATIONAL: LaneWorker(queue, Lane.CONVERSATIONAL, decide),
    }


def _seed(c: Container) -> DemoSeed:
    return DemoSeed(
        c.resolve(DirectoryPort),
        c.resolve(DocumentStorePort),
        c.resolve(ProfileStorePort),
        c.resolve(EmbedderPort).version,
    )
