"""Which adapter satisfies which port, in each shape of the product. The only module that imports adapters.

Each import stands where it is needed, so that an image installs only what it binds.
"""

import os
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TypeAlias

from cogni_domain.access.directory import Issuer
from cogni_domain.access.rule import AccessRule
from cogni_domain.governance.routing import ModelBinding
from cogni_domain.model_routes import ModelRoutes
from cogni_domain.ports.access_rules import AccessRulesPort
from cogni_domain.ports.clock import ClockPort
from cogni_domain.ports.connector import ConnectorPort
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
from cogni_domain.subscriptions_endpoint import EndpointPolicy
from cogni_engine import ReferenceStore
from cogni_kernel import ConflictError, Err, Ok, Result, TaskClass
from cogni_runtime.container import Container
from cogni_runtime.event_bindings import (
    EVENT_PORTS,
    KEY_BYTES,
    NO_KEY,
    TO_LOOPBACK,
    bind_events,
    draw_event_key,
    event_key,
)
from cogni_runtime.model_choice import Provider, chosen_routes
from cogni_runtime.search_bindings import bind_search

Close: TypeAlias = Callable[[], Awaitable[None]]

PORTS: tuple[type, ...] = (
    AccessRulesPort,
    ClockPort,
    DirectoryPort,
    DocumentStorePort,
    DurablePort,
    EmbedderPort,
    ExtractorPort,
    KeywordSearchPort,
    ModelPort,
    ProfileStorePort,
    ProposalStorePort,
    QueuePort,
    RebuildStorePort,
    ReferenceStore,
    RerankerPort,
    RunLogPort,
    TokenVerifierPort,
    TranscriptStorePort,
    VectorStorePort,
    *EVENT_PORTS,
)


async def _nothing_left() -> Result[int]:
    return Ok(0)


@dataclass(frozen=True, slots=True)
class Bindings:
    """A bound container, what to ask before serving, and how to let go of what it holds.

    Attributes:
        take_over: Makes jobs due at once that processes held which are gone; for who holds the data alone.
        data: The data folder, where there is one.
    """

    container: Container
    refuse_other_schema: Callable[[], Awaitable[Result[None]]]
    close: Close
    take_over: Callable[[], Awaitable[Result[int]]] = _nothing_left
    data: Path | None = None


DATABASE = "cogni.db"


def has_database(data: Path) -> bool:
    """Tell whether a data folder has a database, of whatever schema."""
    return (data / DATABASE).exists()


def database_url(data: Path) -> str:
    """Return the address of the database in a data folder, whatever the folder is called."""
    path = str(data / DATABASE).replace("%", "%25")
    return f"sqlite:///{path}"


def migrate(data: Path) -> Result[str]:
    """Bring the database of a data folder to this version's schema; return the revision.

    A folder without a key for the secrets of events is given one.
    """
    from cogni_adapters.database.migrate import migrate as run

    data.mkdir(parents=True, exist_ok=True)
    done = run(database_url(data))
    if isinstance(done, Ok):
        draw_event_key(data)
    return done


def embedded(data: Path, environment: Mapping[str, str]) -> Bindings:
    """Bind everything within one process, on one folder.

    Args:
        data: An existing folder that this process holds alone.
        environment: Names a model provider and other stores for search, if any: see
            `model_choice.chosen_routes` and `search_choice.chosen_search`.

    Raises:
        DefinitionError: A port has no adapter, or something is named that cannot be bound as it is.
    """
    from cogni_adapters.database.engine import Database
    from cogni_adapters.database.migrate import refuse_other_schema
    from cogni_adapters.database.queue import DatabaseQueueAdapter
    from cogni_adapters.extraction.sandbox import SandboxExtractorAdapter
    from cogni_adapters.system.clock import SystemClockAdapter

    database = Database(database_url(data))
    container = Container()
    container.bind(ClockPort, SystemClockAdapter())
    _bind_database(container, database)
    let_search_go = bind_search(container, database, data, environment)
    extractor = SandboxExtractorAdapter()
    container.bind(ExtractorPort, extractor)
    let_model_go = _bind_models(container, environment)
    _bind_tokens(container)
    key = event_key(data)
    policy = EndpointPolicy(allow_loopback=environment.get(TO_LOOPBACK) == "1")
    close_connections = bind_events(container, database, key or os.urandom(KEY_BYTES), policy)
    container.validate(PORTS)

    async def close() -> None:
        await close_connections()
        extractor.close()
        await let_model_go()
        await let_search_go()
        await database.close()

    async def refuse() -> Result[None]:
        other = await refuse_other_schema(database)
        return other if isinstance(other, Err) or key else Err(ConflictError(NO_KEY))

    queue = container.resolve(QueuePort)
    assert isinstance(queue, DatabaseQueueAdapter)
    return Bindings(container, refuse, close, queue.take_over, data)


def event_sink(url: str, key: bytes) -> Bindings:
    """Bind what brings events out of the house, over the database that the other processes write to.

    Args:
        url: Of the database, as SQLAlchemy has it.
        key: 32 bytes, the same for every process that opens or seals secrets of this database.

    Raises:
        DefinitionError: The key has another length.
    """
    from cogni_adapters.database.engine import Database
    from cogni_adapters.database.migrate import refuse_other_schema
    from cogni_adapters.system.clock import SystemClockAdapter

    database = Database(url)
    container = Container()
    container.bind(ClockPort, SystemClockAdapter())
    close_connections = bind_events(container, database, key, EndpointPolicy())
    container.validate((ClockPort, *EVENT_PORTS))

    async def close() -> None:
        await close_connections()
        await database.close()

    return Bindings(container, lambda: refuse_other_schema(database), close)


def _bind_database(container: Container, database: object) -> None:
    from cogni_adapters.database.access_rules import DatabaseAccessRulesAdapter
    from cogni_adapters.database.directory import DatabaseDirectoryAdapter
    from cogni_adapters.database.documents import DatabaseDocumentStoreAdapter
    from cogni_adapters.database.durable import DatabaseDurableAdapter
    from cogni_adapters.database.engine import Database
    from cogni_adapters.database.profiles import DatabaseProfileStoreAdapter
    from cogni_adapters.database.proposals import DatabaseProposalStoreAdapter
    from cogni_adapters.database.queue import DatabaseQueueAdapter
    from cogni_adapters.database.rebuilds import DatabaseRebuildStoreAdapter
    from cogni_adapters.database.references import DatabaseReferenceStoreAdapter
    from cogni_adapters.database.run_log import DatabaseRunLogAdapter
    from cogni_adapters.database.transcripts import DatabaseTranscriptStoreAdapter

    assert isinstance(database, Database)
    clock = container.resolve(ClockPort)
    queue = DatabaseQueueAdapter(database, clock)
    container.bind(AccessRulesPort, DatabaseAccessRulesAdapter(database))
    container.bind(DirectoryPort, DatabaseDirectoryAdapter(database))
    container.bind(DocumentStorePort, DatabaseDocumentStoreAdapter(database))
    container.bind(DurablePort, DatabaseDurableAdapter(queue))
    container.bind(ProfileStorePort, DatabaseProfileStoreAdapter(database, clock))
    container.bind(ProposalStorePort, DatabaseProposalStoreAdapter(database))
    container.bind(QueuePort, queue)
    container.bind(RebuildStorePort, DatabaseRebuildStoreAdapter(database))
    container.bind(ReferenceStore, DatabaseReferenceStoreAdapter(database))
    container.bind(RunLogPort, DatabaseRunLogAdapter(database))
    container.bind(TranscriptStorePort, DatabaseTranscriptStoreAdapter(database, clock))


def _bind_models(container: Container, environment: Mapping[str, str]) -> Close:
    """Bind every model; return what lets go of the language model."""
    from cogni_adapters.minilm.embedder import MiniLmEmbedderAdapter
    from cogni_adapters.minilm.model import MiniLm
    from cogni_adapters.minilm.reranker import MaxSimRerankerAdapter

    model = MiniLm()
    embedder = MiniLmEmbedderAdapter(model)
    container.bind(EmbedderPort, embedder)
    container.bind(RerankerPort, MaxSimRerankerAdapter(model))
    language_model, close = _language_model(container, environment)
    container.bind(ModelPort, language_model)
    return close


def _language_model(
    container: Container, environment: Mapping[str, str]
) -> tuple[ModelPort, Close]:
    """Return the model that the environment names, else the local reader."""
    routes = chosen_routes(environment)
    if routes is None:
        from cogni_adapters.reader.model import LocalReaderAdapter

        return LocalReaderAdapter(container.resolve(EmbedderPort)), _nothing
    bound = {
        binding: _provided(binding, environment)
        for binding in (*routes.by_class.values(), *routes.fallback.values())
    }
    models = {binding: model for binding, (model, _) in bound.items()}
    model = ModelRoutes(routes, models, container.resolve(ClockPort)).model_for(
        TaskClass.CONVERSATIONAL
    )
    assert isinstance(model, Ok)

    async def close() -> None:
        for _, let_go in bound.values():
            await let_go()

    return model.value, close


def _provided(binding: ModelBinding, environment: Mapping[str, str]) -> tuple[ModelPort, Close]:
    key = environment.get("OPENAI_API_KEY") or "none"
    match Provider[binding.provider]:
        case Provider.CHAT:
            from cogni_adapters.openai.chat import OpenAIChatAdapter

            chat = OpenAIChatAdapter(binding.version, key, environment["OPENAI_BASE_URL"])
            return chat, chat.close
        case Provider.RESPONSES:
            from cogni_adapters.openai.responses import OpenAIResponsesAdapter

            responses = OpenAIResponsesAdapter(binding.version, key)
            return responses, responses.close
        case Provider.MESSAGES:
            from cogni_adapters.anthropic.messages import AnthropicAdapter

            messages = AnthropicAdapter(
                binding.version,
                environment["ANTHROPIC_API_KEY"],
                environment.get("ANTHROPIC_BASE_URL") or None,
            )
            return messages, messages.close


async def _nothing() -> None:
    """A model of this process holds nothing outside it."""


def _bind_tokens(container: Container) -> None:
    from cogni_adapters.jwt.verifier import JwtTokenVerifierAdapter

    verifier = JwtTokenVerifierAdapter(
        container.resolve(DirectoryPort), container.resolve(ClockPort)
    )
    container.bind(TokenVerifierPort, verifier)


def folder_connector(
    path: Path, rule: AccessRule | None, extractor: ExtractorPort, root_before: str | None = None
) -> ConnectorPort:
    """Return the connector of a folder; without a rule, its files' modes are mapped.

    Args:
        root_before: Its `folder_identity` when it was last read to its end.
    """
    from cogni_adapters.filesystem.connector import FilesystemConnectorAdapter
    from cogni_adapters.filesystem.permissions import PosixMapping

    readers = PosixMapping() if rule is None else rule
    return FilesystemConnectorAdapter(path, readers, extractor, root_before=root_before)


def folder_identity(path: Path) -> str | None:
    """Return what tells a folder from another one at the same path; None where there is none."""
    from cogni_adapters.filesystem.connector import identity

    return identity(path)


def demo_token(issuer: Issuer, subject: str, clock: ClockPort, lifetime: timedelta) -> str:
    """Return a host token of the demo company, which is its own host."""
    from cogni_adapters.jwt.signer import sign_host_token

    return sign_host_token(issuer, subject, clock, lifetime)
