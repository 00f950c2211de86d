"""The chat surface: an answer as sanitised HTML, in a frame that edge serves."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cogni_surfaces import renderer
from cogni_surfaces.base import Base, SurfaceCapabilities
from cogni_surfaces.cutting import cut
from cogni_surfaces.texts import GENERATED_LABEL, Language, said, said_place
from cogni_surfaces.words import HostWords


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
    """How an answer is shown: in which language, how many characters of it at once, and what a host's tools say."""

    language: Language = Language.EN
    limit: int | None = ChatSurface.capabilities.max_output_length
    words: HostWords = HostWords()  # noqa: RUF009 - a frozen value

    def said(self, text: str) -> str:
        """Return a sentence of the product, or of a host's tool, in the person's language."""
        ours = said(text, self.language)
        return ours if ours != text else self.words.said(text, self.language)


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
    spoken = _spoken(outcome, view)
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
    _, rest = cut(str(_spoken(outcome, view).get("text") or ""), view.limit)
    told = {**outcome, "text": rest}
    return {"text": rest, "html": render_answer(told, view.language), "more": False}


def spoken_proposal(proposal: Mapping[str, object], view: View) -> dict[str, object]:
    """Return a proposal in the person's language: title, steps and note; what it would be done with stays as it is."""
    told = dict(proposal)
    if isinstance(note := told.get("note"), str):
        told["note"] = view.said(note)
    if isinstance(rendering := told.get("rendering"), Mapping):
        told["rendering"] = _spoken_rendering(rendering, view)
    return told


def spoken_citation(citation: Mapping[str, object], language: Language) -> dict[str, object]:
    """Return a citation whose place is said in a language."""
    return {**citation, "locator": said_place(str(citation.get("locator") or ""), language)}


def _spoken_rendering(rendering: Mapping[str, object], view: View) -> dict[str, object]:
    told = dict(rendering)
    if isinstance(title := told.get("title"), str):
        told["title"] = view.said(title)
    if isinstance(steps := told.get("steps"), list | tuple):
        told["steps"] = [_spoken_step(step, view) for step in steps]
    return told


def _spoken_step(step: object, view: View) -> object:
    if not isinstance(step, Mapping):
        return step
    return {name: view.said(v) if isinstance(v, str) else v for name, v in step.items()}


def _spoken(outcome: Mapping[str, object], view: View) -> dict[str, object]:
    """Return an outcome whose message, the same words at the end of its text, places and proposal are in a language."""
    language = view.language
    if isinstance(proposal := outcome.get("proposal"), Mapping):
        outcome = {**outcome, "proposal": spoken_proposal(proposal, view)}
    if isinstance(citations := outcome.get("citations"), list):
        outcome = {**outcome, "citations": [spoken_citation(c, language) for c in citations]}
    text, message = str(outcome.get("text") or ""), outcome.get("message")
    if not isinstance(message, str):
        return {**outcome, "text": said(text, language)}
    translated = view.said(message)
    if message and text.endswith(message):
        text = text.removesuffix(message) + translated
    return {**outcome, "text": text, "message": translated}
