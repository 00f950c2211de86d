"""Which names of models mean one model."""

import pytest

from cogni_domain.providers.pinning import pinned
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
        "claude-sonnet-4-6",
        "claude-opus-5",
        "claude-haiku-5-5",
        "anthropic.claude-opus-4-7",
        "anthropic.claude-opus-4-6-v1",
        "gpt-6.2-sol",
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
        "claude-opus-4",
        "claude-mythos-preview",
        "anthropic.claude-sonnet-4",
        "gpt-5.5",
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
        pinned(name)


@pytest.mark.parametrize("name", ["", "  "])
def test_a_provider_without_a_model_is_refused(name: str) -> None:
    with pytest.raises(DefinitionError, match="no model"):
        pinned(name)
