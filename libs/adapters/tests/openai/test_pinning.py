"""Which names of models mean one model."""

from datetime import UTC, datetime

import pytest

from cogni_adapters.openai.chat import OpenAIChatAdapter
from cogni_adapters.openai.failures import retry_after_s
from cogni_adapters.openai.pinning import pinned
from cogni_kernel import DefinitionError


@pytest.mark.parametrize(
    "name",
    [
        "gpt-4.1-2025-04-14",
        "gpt-4o-mini-2024-07-18",
        "openai/gpt-5-2025-08-07",
        "gpt-4-0613",
        "o3-2025-04-16",
        "ft:gpt-4o-mini-2024-07-18:acme::9xyz",
        "claude-sonnet-4-5-20250929",
        "gemini-2.0-flash-001",
        "gpt-oss-120b",
        "qwen3:8b",
        "meta-llama/Llama-3.1-8B-Instruct",
        "mistral-large-2411",
    ],
)
def test_one_version_is_taken(name: str) -> None:
    assert pinned(f" {name} ") == name


@pytest.mark.parametrize(
    "name",
    [
        "gpt-4o",
        "gpt-4.1-mini",
        "openai/gpt-5",
        "chatgpt-4o-latest",
        "o3",
        "claude-sonnet-4-5",
        "gemini-2.5-pro",
        "llama3:latest",
        "mistral-large-latest",
        "openrouter/auto",
        "default",
        "Latest",
    ],
)
def test_a_floating_name_is_refused_with_what_would_do(name: str) -> None:
    with pytest.raises(DefinitionError, match=r"name one version of it.*gpt-4\.1-2025-04-14"):
        OpenAIChatAdapter(name, "key")


@pytest.mark.parametrize("name", ["", "  "])
def test_a_provider_without_a_model_is_refused(name: str) -> None:
    with pytest.raises(DefinitionError, match="no model"):
        OpenAIChatAdapter(name, "key")


NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("headers", "wait_s"),
    [
        ({}, None),
        ({"retry-after": "3"}, 3.0),
        ({"retry-after": "-1"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "Mon, 02 Mar 2026 09:00:30 GMT"}, 30.0),
        ({"retry-after": "Mon, 02 Mar 2026 08:00:00 GMT"}, 0.0),
        ({"retry-after": "Mon, 02 Mar 2026 09:00:30 -0000"}, 30.0),
        ({"retry-after": "tomorrow"}, None),
        ({"retry-after-ms": "1500"}, 1.5),
        ({"retry-after-ms": "?", "retry-after": "4"}, 4.0),
    ],
)
def test_how_long_to_wait_is_read_in_every_form(
    headers: dict[str, str], wait_s: float | None
) -> None:
    assert retry_after_s(headers, NOW) == wait_s
