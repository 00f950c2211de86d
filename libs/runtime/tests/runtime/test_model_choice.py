"""Which language model the environment names."""

import pytest

from cogni_domain.governance.routing import ResidencyRequirement
from cogni_kernel import DefinitionError, TaskClass
from cogni_runtime.model_choice import Provider, chosen_routes, in_words
from cogni_testing import ok

OPENAI = {"OPENAI_API_KEY": "sk-1"}
SERVER = {"OPENAI_BASE_URL": "http://127.0.0.1:1/v1"}
ANTHROPIC = {"ANTHROPIC_API_KEY": "sk-2"}
GPT = {"COGNI_MODEL": "gpt-4.1-2025-04-14"}
CLAUDE = {"COGNI_MODEL": "claude-sonnet-4-6"}
QWEN = {"COGNI_MODEL": "qwen3:8b"}
EU = {"COGNI_RESIDENCY": "EU, ch"}


@pytest.mark.parametrize(
    ("environment", "provider"),
    [
        (OPENAI | GPT, Provider.RESPONSES),
        (SERVER | QWEN, Provider.CHAT),
        (SERVER | OPENAI | GPT, Provider.CHAT),
        (ANTHROPIC | CLAUDE, Provider.MESSAGES),
        (ANTHROPIC | QWEN, Provider.MESSAGES),
        (OPENAI | ANTHROPIC | CLAUDE, Provider.MESSAGES),
        (OPENAI | ANTHROPIC | GPT, Provider.RESPONSES),
        (SERVER | ANTHROPIC | QWEN, Provider.CHAT),
        (SERVER | CLAUDE, Provider.CHAT),
    ],
)
def test_the_keys_and_the_name_of_the_model_say_how_it_is_asked(
    environment: dict[str, str], provider: Provider
) -> None:
    routes = chosen_routes(environment)

    assert routes is not None
    assert ok(routes.binding_for(TaskClass.CONVERSATIONAL)).provider == provider.name
    assert provider.value in in_words(routes)


@pytest.mark.parametrize("environment", [{}, GPT, {"OPENAI_API_KEY": " ", "ANTHROPIC_API_KEY": ""}])
def test_without_a_key_nobody_is_asked(environment: dict[str, str]) -> None:
    assert chosen_routes(environment) is None


def test_another_provider_stands_in_where_it_is_named() -> None:
    routes = chosen_routes(OPENAI | ANTHROPIC | GPT | {"COGNI_FALLBACK_MODEL": "claude-sonnet-4-6"})

    assert routes is not None
    assert in_words(routes) == (
        "gpt-4.1-2025-04-14 by OpenAI's responses; claude-sonnet-4-6 by Anthropic's messages stands in"
    )


@pytest.mark.parametrize("fallback", ["gpt-4o", "gpt-4.1-2025-04-14"])
def test_who_cannot_stand_in_is_refused(fallback: str) -> None:
    with pytest.raises(DefinitionError, match=fallback):
        chosen_routes(OPENAI | GPT | {"COGNI_FALLBACK_MODEL": fallback})


def test_a_region_is_named_with_the_model() -> None:
    routes = chosen_routes(OPENAI | GPT | EU | {"COGNI_MODEL_REGION": "eu"})

    assert routes is not None
    assert routes.residency == ResidencyRequirement.within("eu", "ch")
    assert in_words(routes) == "gpt-4.1-2025-04-14 by OpenAI's responses in eu"


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"COGNI_MODEL_REGION": "us"},
        {"COGNI_MODEL_REGION": "eu", "COGNI_FALLBACK_MODEL": "gpt-5-2025-08-07"},
        {"COGNI_MODEL_REGION": "eu", "COGNI_FALLBACK_MODEL": "gpt-5-2025-08-07"}
        | {"COGNI_FALLBACK_REGION": "us"},
    ],
)
def test_nobody_outside_the_region_is_asked_or_stands_in(more: dict[str, str]) -> None:
    with pytest.raises(DefinitionError, match="content may be processed in ch, eu"):
        chosen_routes(OPENAI | GPT | EU | more)
