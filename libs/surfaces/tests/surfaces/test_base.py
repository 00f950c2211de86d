from collections.abc import Mapping, Sequence

import pytest

from cogni_engine import Effect
from cogni_kernel import DefinitionError
from cogni_surfaces import (
    Base,
    ChatSurface,
    Confirmation,
    Language,
    SurfaceCapabilities,
    TerminalSurface,
)

OUTCOME = {
    "text": "Twenty weeks [s1].",
    "citations": [{"handle": "s1", "label": "Leave", "locator": "page 3"}],
    "markers": [],
    "indexed_through": "2026-11-30T10:00:00+00:00",
}
SURFACES = [ChatSurface, TerminalSurface]


def methods(**more: object) -> dict[str, object]:
    def body(self: Base, outcome: Mapping[str, object]) -> str:
        return f"<{outcome['text']}>"

    def sources(self: Base, citations: Sequence[Mapping[str, object]]) -> str:
        return f"<{len(citations)} sources>"

    def fresh(self: Base, indexed_through: object) -> str:
        return "<fresh>"

    def label(self: Base) -> str:
        return "<generated>"

    return {
        "id": "voice",
        "capabilities": SurfaceCapabilities(),
        "render_body": body,
        "render_provenance": sources,
        "render_freshness": fresh,
        "render_generated_label": label,
        **more,
    }


def define(**given: object) -> type[Base]:
    return type("Voice", (Base,), given)


@pytest.mark.parametrize(
    "missing",
    [
        *("render_body", "render_provenance", "render_freshness", "render_generated_label"),
        *("id", "capabilities"),
    ],
)
def test_a_surface_that_lacks_what_is_owed_does_not_define(missing: str) -> None:
    given = methods()
    del given[missing]

    with pytest.raises(DefinitionError, match=missing):
        define(**given)


def test_a_surface_cannot_put_answers_together_by_itself() -> None:
    with pytest.raises(DefinitionError, match="Base alone"):
        define(**methods(render=lambda self, outcome: "no label"))


def test_a_surface_without_a_confirmation_step_is_read_only() -> None:
    silent = define(**methods())
    asking = define(**methods(capabilities=SurfaceCapabilities(confirmation_ui=True)))

    assert silent.effects == {Effect.READ}
    assert asking.effects == frozenset(Effect)


async def test_a_surface_that_cannot_ask_says_so() -> None:
    assert await define(**methods())().confirm({}) is Confirmation.UNSUPPORTED


def test_an_answer_holds_its_sources_its_freshness_and_its_label() -> None:
    shown = define(**methods())().render(OUTCOME)

    assert shown == "<Twenty weeks [s1].><1 sources><fresh><generated>"


@pytest.mark.parametrize("surface", SURFACES)
@pytest.mark.parametrize("language", Language)
def test_every_surface_names_source_freshness_and_label(
    surface: type[Base], language: Language
) -> None:
    shown = surface(language).render(OUTCOME)

    assert "Leave" in shown
    assert ("page 3" in shown) == (language is Language.EN)
    assert ("Seite 3" in shown) == (language is Language.DE)
    assert "2026-11-30" in shown
    assert ("Generated answer" in shown) == (language is Language.EN)
    assert ("Automatisch erzeugte Antwort" in shown) == (language is Language.DE)


def test_a_surface_shows_at_least_one_character() -> None:
    with pytest.raises(ValueError, match="at least one"):
        SurfaceCapabilities(max_output_length=0)
