"""Who may read what, as a tenant's manifest.yaml says it: layers of restrictions by place."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath

from cogni_acme.shape import listing, mapping, text, texts
from cogni_domain.access.rule import AccessRule, Unmappable

_HISTORY_KEYS = frozenset({"moved", "to", "deleted", "restricted", "layer"})

REPORTER = "reporter"


@dataclass(frozen=True, slots=True)
class Layer:
    """One restriction of one place.

    Attributes:
        allow: Any one of these is needed; None restricts nothing, an empty tuple admits nobody.
        deny: Never these.
        unreadable: Why the restriction cannot be mapped; empty where it can.
    """

    allow: tuple[str, ...] | None = None
    deny: tuple[str, ...] = ()
    unreadable: str = ""

    def with_reporter(self, person: str) -> "Layer":
        """Return the layer with the word `reporter` replaced by the person who filed the ticket."""
        if self.allow is None:
            return self
        named = tuple(f"u:{person}" if word == REPORTER else word for word in self.allow)
        return Layer(named, self.deny, self.unreadable)


@dataclass(frozen=True, slots=True)
class Moved:
    """A document went to another place."""

    document: str
    to: str


@dataclass(frozen=True, slots=True)
class Deleted:
    """A document is gone."""

    document: str


@dataclass(frozen=True, slots=True)
class Restricted:
    """A place got a layer."""

    document: str
    layer: Layer


@dataclass(frozen=True, slots=True)
class Manifest:
    """The restrictions of one tenant, and what changed between its two revisions.

    Attributes:
        layers: By place, a folder or a document.
        levels: By the name that a ticket gives.
        internal_comments: By queue, the folder of a ticket.
        history: From revision 1 to revision 2.
        moved: Where a document is that is no longer where it was first.
    """

    layers: Mapping[str, Layer]
    levels: Mapping[str, Layer]
    internal_comments: Mapping[str, Layer]
    history: tuple[Moved | Deleted | Restricted, ...]
    moved: Mapping[str, str] = field(default_factory=dict)

    def at_revision_2(self) -> "Manifest":
        """Return the manifest with its history applied."""
        restricted = {e.document: e.layer for e in self.history if isinstance(e, Restricted)}
        moved = {event.document: event.to for event in self.history if isinstance(event, Moved)}
        return replace(self, layers={**self.layers, **restricted}, moved=moved)

    def layers_on_the_way(self, place: str) -> tuple[Layer, ...]:
        """Return the layers of the place's space, of each folder or page above it, and its own."""
        path = PurePosixPath(place)
        above = [str(parent) for parent in reversed(path.parents)]
        return tuple(self.layers[step] for step in (*above, str(path)) if step in self.layers)


def rule_of(layers: Iterable[Layer]) -> AccessRule | Unmappable:
    """Return what all layers say together: every `allow` must admit a reader, no `deny` may name one.

    One unreadable layer makes the whole unmappable, since it may be the one that narrows.
    """
    rule = AccessRule.everyone()
    for layer in layers:
        if layer.unreadable:
            return Unmappable(layer.unreadable)
        if layer.allow is not None:
            rule = rule.restricted_to(*layer.allow)
        rule = rule.except_for(*layer.deny)
    return rule.simplified()


def parse_manifest(data: object, tenant: str, known: frozenset[str]) -> Manifest:
    """Check what a manifest holds.

    Args:
        data: The file, as read.
        tenant: Whose manifest it is, for messages.
        known: The tenant's `u:` and `g:` words. A layer that names another one is refused: a misspelt
            deny would open its place.

    Raises:
        ValueError: An entry is wrong; names the tenant and the place.
    """
    keys = frozenset({"layers", "levels", "internal_comments", "history"})
    root = mapping(data, f"{tenant}, manifest", keys)

    def named(part: str, words: frozenset[str]) -> dict[str, Layer]:
        found = mapping(root.get(part), f"{tenant}, {part}")
        return {
            key: _layer(value, f"{tenant}, {part}, {key}", words) for key, value in found.items()
        }

    history = listing(root.get("history"), f"{tenant}, history")
    return Manifest(
        named("layers", known),
        named("levels", known | {REPORTER}),
        named("internal_comments", known),
        tuple(_event(entry, f"{tenant}, history", known) for entry in history),
    )


def _layer(value: object, where: str, known: frozenset[str]) -> Layer:
    found = mapping(value, where, frozenset({"allow", "deny", "unreadable"}))
    allow = texts(found["allow"], f"{where}, allow") if "allow" in found else None
    deny = texts(found.get("deny", []), f"{where}, deny")
    for word in (*(allow or ()), *deny):
        _check_word(word, where, known)
    unreadable = text(found["unreadable"], where) if "unreadable" in found else ""
    return Layer(allow, deny, unreadable)


def _check_word(word: str, where: str, known: frozenset[str]) -> None:
    attribute, _, value = word.removeprefix("a:").partition("=")
    is_attribute = word.startswith("a:") and attribute and value
    if word not in known and word != "everyone" and not is_attribute:
        raise ValueError(
            f"{where}: {word} is not a known u:person or g:group, a:name=value or everyone"
        )


def _event(value: object, where: str, known: frozenset[str]) -> Moved | Deleted | Restricted:
    found = mapping(value, where, _HISTORY_KEYS)
    match sorted(found):
        case ["moved", "to"]:
            return Moved(text(found["moved"], where), text(found["to"], where))
        case ["deleted"]:
            return Deleted(text(found["deleted"], where))
        case ["layer", "restricted"]:
            place = text(found["restricted"], where)
            return Restricted(place, _layer(found["layer"], f"{where}, {place}", known))
        case _:
            raise ValueError(f"{where}: an entry is moved and to, deleted, or restricted and layer")
