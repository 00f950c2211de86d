"""The chat surface: an answer as sanitised HTML, in a frame that edge serves."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cogni_surfaces import renderer
from cogni_surfaces.base import Base, SurfaceCapabilities
from cogni_surfaces.cutting import cut
from cogni_surfaces.texts import GENERATED_LABEL, Language, said, spoken_proposal


class ChatSurface(Base):
    """Streams, shows widgets, takes attachments and asks before anything changes.

    Source:
        COGNI.BUILD spec, package surfaces, "ChatSurface" and "Renderer"; DESIGN D11.
    """

    id = "chat"
    framed = True
    capabilities = SurfaceCapabilities(
        streaming=True,
        rich_artifacts=True,
        attachments=True,
        confirmation_ui=True,
        max_output_length=20_000,
    )

    def render_body(self, outcome: Mapping[str, object]) -> str:
        return renderer.body(outcome)

    def render_provenance(self, citations: Sequence[Mapping[str, object]]) -> str:
        return renderer.sources(citations, self.language)

    def render_freshness(self, indexed_through: object) -> str:
        return renderer.freshness(indexed_through, self.language)

    def render_generated_label(self) -> str:
        return renderer.generated_label(self.language)


@dataclass(frozen=True, slots=True)
class View:
    """How an answer is shown: in which language, and how many characters of it at once."""

    language: Language = Language.EN
    limit: int | None = ChatSurface.capabilities.max_output_length


def render_answer(outcome: Mapping[str, object], language: Language = Language.EN) -> str:
    """Return the HTML of an outcome: its text, then sources, freshness and label, which nothing can leave out.

    Args:
        outcome: As the contract names it: `text`, `citations`, `markers`, `indexed_through`.
    """
    return ChatSurface(language).render(outcome)


def disclosed(
    outcome: Mapping[str, object],
    view: View = View(),
) -> dict[str, object]:
    """Return an outcome with what every surface owes the person: the rendered answer and the label.

    The product's own words in it are in the person's language. `more` is there where the text was cut, and says that the rest can be asked for.
    """
    spoken = _spoken(outcome, view.language)
    shown, rest = cut(str(spoken.get("text") or ""), view.limit)
    told = {**spoken, "text": shown, **({"more": True} if rest else {})}
    return {
        **told,
        "html": render_answer(told, view.language),
        "generated_label": said(GENERATED_LABEL, view.language),
    }


def the_rest(
    outcome: Mapping[str, object],
    view: View = View(),
) -> dict[str, object]:
    """Return what `disclosed` left out of an outcome, rendered the same way; empty where that was nothing."""
    _, rest = cut(str(_spoken(outcome, view.language).get("text") or ""), view.limit)
    told = {**outcome, "text": rest}
    return {"text": rest, "html": render_answer(told, view.language), "more": False}


def _spoken(outcome: Mapping[str, object], language: Language) -> dict[str, object]:
    """Return an outcome whose message, the same words at the end of its text, and proposal are in a language."""
    if isinstance(proposal := outcome.get("proposal"), Mapping):
        outcome = {**outcome, "proposal": spoken_proposal(proposal, language)}
    text, message = str(outcome.get("text") or ""), outcome.get("message")
    if not isinstance(message, str):
        return {**outcome, "text": said(text, language)}
    translated = said(message, language)
    if message and text.endswith(message):
        text = text.removesuffix(message) + translated
    return {**outcome, "text": text, "message": translated}
