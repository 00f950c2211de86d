from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from cogni_adapters.anthropic.messages import AnthropicAdapter
from cogni_adapters.jwt.verifier import JwtTokenVerifierAdapter
from cogni_adapters.openai.chat import OpenAIChatAdapter
from cogni_adapters.openai.responses import OpenAIResponsesAdapter
from cogni_adapters.reader.model import LocalReaderAdapter
from cogni_domain.access.directory import Issuer
from cogni_domain.access.resolver import HostToken
from cogni_domain.access.rule import AccessRule
from cogni_domain.model_routes import RoutedModel
from cogni_domain.ports.clock import ClockPort
from cogni_domain.ports.directory import DirectoryPort
from cogni_domain.ports.event_sink import EventSinkPort
from cogni_domain.ports.extractor import ExtractorPort
from cogni_domain.ports.model import ModelPort
from cogni_domain.ports.token_verifier import TokenVerifierPort
from cogni_domain.subscriptions_endpoint import Endpoint
from cogni_kernel import ConflictError, DefinitionError, TenantId
from cogni_runtime.bindings import (
    PORTS,
    Bindings,
    database_url,
    demo_token,
    embedded,
    event_sink,
    folder_connector,
    has_database,
    migrate,
)
from cogni_runtime.event_bindings import EVENT_PORTS, KEY_FILE, event_key
from cogni_testing import err, ok

ISSUER = Issuer(
    "k1", TenantId("acme"), "HS256", "s" * 48, "https://host.example", "cogni", loopback_only=True
)


@asynccontextmanager
async def bound(
    data: Path, environment: Mapping[str, str] | None = None
) -> AsyncIterator[Bindings]:
    bindings = embedded(data, environment or {})
    yield bindings
    await bindings.close()


async def test_every_port_is_bound(tmp_path: Path) -> None:
    async with bound(tmp_path) as bindings:
        for port in PORTS:
            bindings.container.resolve(port)
        assert [name for name, _ in bindings.container.names()] == sorted(p.__name__ for p in PORTS)


async def test_every_port_that_is_bound_is_one_of_the_product(tmp_path: Path) -> None:
    async with bound(tmp_path) as bindings:
        adapters = [adapter for _, adapter in bindings.container.names()]

    assert all(adapter.endswith("Adapter") for adapter in adapters)


@pytest.mark.parametrize(
    ("environment", "kind", "version"),
    [
        ({}, LocalReaderAdapter, "local-reader"),
        ({"OPENAI_API_KEY": "", "OPENAI_BASE_URL": ""}, LocalReaderAdapter, "local-reader"),
        ({"COGNI_MODEL": "gpt-5-2026-01-01"}, LocalReaderAdapter, "local-reader"),
        (
            {"OPENAI_API_KEY": "sk-1", "COGNI_MODEL": "gpt-5-2026-01-01"},
            OpenAIResponsesAdapter,
            "gpt-5-2026-01-01",
        ),
        (
            {"ANTHROPIC_API_KEY": "sk-1", "COGNI_MODEL": "claude-sonnet-4-6"},
            AnthropicAdapter,
            "claude-sonnet-4-6",
        ),
        (
            {"OPENAI_API_KEY": "sk-1", "ANTHROPIC_API_KEY": "sk-2"}
            | {"COGNI_MODEL": "claude-opus-5", "COGNI_FALLBACK_MODEL": "gpt-5-2026-01-01"},
            RoutedModel,
            "claude-opus-5",
        ),
        (
            {"OPENAI_BASE_URL": "http://127.0.0.1:1/v1", "COGNI_MODEL": "qwen3-8b-q4"},
            OpenAIChatAdapter,
            "qwen3-8b-q4",
        ),
    ],
)
async def test_the_environment_names_the_model(
    tmp_path: Path, environment: dict[str, str], kind: type, version: str
) -> None:
    async with bound(tmp_path, environment) as bindings:
        model = bindings.container.resolve(ModelPort)

    assert type(model) is kind
    assert model.model_version.startswith(version)


@pytest.mark.parametrize("model", ["", "gpt-latest"])
def test_a_provider_without_a_pinned_model_is_refused_at_the_start(
    tmp_path: Path, model: str
) -> None:
    with pytest.raises(DefinitionError, match="model"):
        embedded(tmp_path, {"OPENAI_API_KEY": "sk-1", "COGNI_MODEL": model})


def test_a_model_outside_the_region_is_refused_at_the_start(tmp_path: Path) -> None:
    environment = {"OPENAI_API_KEY": "sk-1", "COGNI_MODEL": "gpt-5-2026-01-01"}

    with pytest.raises(DefinitionError, match="in a region that is not named"):
        embedded(tmp_path, {**environment, "COGNI_RESIDENCY": "eu"})


def test_a_refusal_at_the_start_tells_no_key(tmp_path: Path) -> None:
    with pytest.raises(DefinitionError) as refused:
        embedded(tmp_path, {"OPENAI_API_KEY": "sk-secret"})

    assert "sk-secret" not in str(refused.value)


async def test_binding_writes_nothing(tmp_path: Path) -> None:
    async with bound(tmp_path):
        pass

    assert list(tmp_path.iterdir()) == []


async def test_a_database_is_served_at_this_versions_schema_alone(tmp_path: Path) -> None:
    before = embedded(tmp_path, {})
    refused = err(await before.refuse_other_schema(), ConflictError)
    await before.close()

    migrated = migrate(tmp_path)
    after = embedded(tmp_path, {})

    assert "cogni migrate" in str(refused.message)
    assert ok(migrated) == ok(migrate(tmp_path))
    ok(await after.refuse_other_schema())
    await after.close()


def test_migrating_makes_the_folder_and_its_database(tmp_path: Path) -> None:
    data = tmp_path / "a" / "b"
    assert not has_database(data)

    ok(migrate(data))

    assert has_database(data)


@pytest.mark.parametrize("name", ["with space", "percent%41", "hash#1", "日本", "at@colon:1"])
def test_a_folder_may_be_called_anything(tmp_path: Path, name: str) -> None:
    ok(migrate(tmp_path / name))

    assert has_database(tmp_path / name)
    assert database_url(tmp_path / name).startswith("sqlite:///")


async def test_a_token_of_the_demo_is_believed_by_the_bound_verifier(tmp_path: Path) -> None:
    ok(migrate(tmp_path))
    bindings = embedded(tmp_path, {})
    container = bindings.container
    ok(await container.resolve(DirectoryPort).put_issuer(ISSUER))
    token = demo_token(ISSUER, "alice", container.resolve(ClockPort), timedelta(minutes=1))
    verifier = container.resolve(TokenVerifierPort)

    claims = ok(await verifier.verify(HostToken(token, from_loopback=True)))

    assert isinstance(verifier, JwtTokenVerifierAdapter)
    assert (claims.tenant_id, claims.subject) == (TenantId("acme"), "alice")
    await bindings.close()


async def test_a_folder_is_connected_with_its_rule(tmp_path: Path) -> None:
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "a.md").write_text("A page.")
    bindings = embedded(tmp_path, {})
    extractor = bindings.container.resolve(ExtractorPort)
    rule = AccessRule.any_of("g:directory/hr")

    page = ok(await folder_connector(tmp_path / "files", rule, extractor).enumerate(None))

    assert [document.rule for document in page.documents] == [rule]
    await bindings.close()


async def test_events_go_to_this_machine_only_where_that_was_asked_for(tmp_path: Path) -> None:
    here = Endpoint("http://127.0.0.1:9/")

    for setting, may in (({}, False), ({"COGNI_EVENTS_TO_LOOPBACK": "1"}, True)):
        async with bound(tmp_path, setting) as bindings:
            refusal = bindings.container.resolve(EventSinkPort).why_not(here)
        assert (refusal is None) is may


def test_the_key_of_a_data_folder_is_drawn_once_and_read_by_its_owner_alone(
    tmp_path: Path,
) -> None:
    assert event_key(tmp_path) is None
    ok(migrate(tmp_path))
    first = event_key(tmp_path)

    ok(migrate(tmp_path))

    assert event_key(tmp_path) == first
    assert first is not None
    assert len(first) == 32
    assert (tmp_path / KEY_FILE).stat().st_mode & 0o777 == 0o600


async def test_a_data_folder_that_lost_its_key_is_not_served(tmp_path: Path) -> None:
    ok(migrate(tmp_path))
    (tmp_path / KEY_FILE).unlink()

    async with bound(tmp_path) as bindings:
        error = err(await bindings.refuse_other_schema(), ConflictError)
    assert "events.key is missing" in str(error.message)

    (tmp_path / KEY_FILE).write_text("no key")
    with pytest.raises(DefinitionError, match="holds no key"):
        embedded(tmp_path, {})


async def test_event_sink_binds_what_it_needs_and_refuses_another_schema(tmp_path: Path) -> None:
    bindings = event_sink(database_url(tmp_path), b"k" * 32)
    for port in EVENT_PORTS:
        bindings.container.resolve(port)
    err(await bindings.refuse_other_schema(), ConflictError)
    await bindings.close()

    with pytest.raises(DefinitionError, match="32 bytes"):
        event_sink(database_url(tmp_path), b"short")
