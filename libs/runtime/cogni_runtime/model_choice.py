"""Which language model the environment names, who stands in for it, and where content may be processed."""

from collections.abc import Mapping
from enum import Enum

from cogni_domain.governance.routing import ModelBinding, ResidencyRequirement, RoutingPolicy
from cogni_kernel import DefinitionError, TaskClass

_ANTHROPICS = ("claude", "anthropic")


class Provider(Enum):
    """How a model is asked; the value is what a person reads."""

    RESPONSES = "OpenAI's responses"
    CHAT = "chat completions at OPENAI_BASE_URL"
    MESSAGES = "Anthropic's messages"


def chosen_routes(environment: Mapping[str, str]) -> RoutingPolicy | None:
    """Return the routes that the environment names; None where it names no provider.

    `OPENAI_BASE_URL` means a server that speaks chat completions, `OPENAI_API_KEY` alone means OpenAI itself. With
    `ANTHROPIC_API_KEY` beside either, names that begin with `claude` are Anthropic's.

    Args:
        environment: COGNI_MODEL and COGNI_FALLBACK_MODEL name the models, COGNI_MODEL_REGION and
            COGNI_FALLBACK_REGION where they run, COGNI_RESIDENCY the regions where content may be processed.

    Raises:
        DefinitionError: A model is missing or floating, or runs where content may not go; says what to do.
    """
    providers = _providers(environment)
    if not providers:
        return None
    first = _binding(environment, "COGNI_MODEL", "COGNI_MODEL_REGION", providers)
    fallback = {}
    if _said(environment, "COGNI_FALLBACK_MODEL"):
        second = _binding(environment, "COGNI_FALLBACK_MODEL", "COGNI_FALLBACK_REGION", providers)
        if second == first:
            raise DefinitionError(
                f"COGNI_FALLBACK_MODEL: {second.version} cannot stand in for itself"
            )
        fallback[TaskClass.CONVERSATIONAL] = second
    return RoutingPolicy({TaskClass.CONVERSATIONAL: first}, fallback, _residency(environment))


def in_words(routes: RoutingPolicy) -> str:
    """Return in one line who answers and who stands in."""
    first = routes.by_class[TaskClass.CONVERSATIONAL]
    second = routes.fallback_for(TaskClass.CONVERSATIONAL)
    return _told(first) if second is None else f"{_told(first)}; {_told(second)} stands in"


def _told(binding: ModelBinding) -> str:
    where = f" in {binding.region}" if binding.region else ""
    return f"{binding.version} by {Provider[binding.provider].value}{where}"


def _providers(environment: Mapping[str, str]) -> list[Provider]:
    found = []
    if _said(environment, "OPENAI_BASE_URL"):
        found.append(Provider.CHAT)
    elif _said(environment, "OPENAI_API_KEY"):
        found.append(Provider.RESPONSES)
    if _said(environment, "ANTHROPIC_API_KEY"):
        found.append(Provider.MESSAGES)
    return found


def _binding(
    environment: Mapping[str, str], model: str, region: str, providers: list[Provider]
) -> ModelBinding:
    name = _said(environment, model)
    is_anthropics = name.casefold().startswith(_ANTHROPICS)
    provider = providers[-1] if is_anthropics else providers[0]
    return ModelBinding(provider.name, name, _said(environment, region))


def _residency(environment: Mapping[str, str]) -> ResidencyRequirement:
    named = [
        region for region in _said(environment, "COGNI_RESIDENCY").split(",") if region.strip()
    ]
    return ResidencyRequirement.within(*named) if named else ResidencyRequirement.anywhere()


def _said(environment: Mapping[str, str], name: str) -> str:
    return environment.get(name, "").strip()
