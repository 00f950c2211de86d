"""The pages, tickets and files of the demo company, at revision 1 and at revision 2."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from enum import Enum
from pathlib import Path

from cogni_acme.manifest import Deleted, Layer, Manifest, parse_manifest, rule_of
from cogni_acme.people import People, load_people
from cogni_acme.shape import read_yaml
from cogni_acme.tickets import Ticket, internal_to_markdown, parse_ticket
from cogni_domain.access.rule import AccessRule, Unmappable

CONTENT = Path(__file__).parent / "content"
LATEST = 2
WRITTEN = datetime(2026, 11, 2, 8, 0, tzinfo=UTC)
CHANGED = datetime(2026, 11, 23, 8, 0, tzinfo=UTC)


class Kind(Enum):
    """What an item is in the company's systems."""

    PAGE = "page"
    TICKET = "ticket"
    COMMENT = "comment"
    FILE = "file"


@dataclass(frozen=True, slots=True)
class Item:
    """One document.

    Attributes:
        id: Its name for good, also after a move: the place where it was first.
        place: Where it is now; decides which layers apply.
        title: What a person calls it.
        name: The name of `data` as a file.
        data: The whole file; a ticket or a comment as Markdown.
        rule: Who may read it there.
        updated_at: When text, place or rule last changed.
        ticket: The ticket, for a TICKET and for a COMMENT on it.
    """

    id: str
    kind: Kind
    place: str
    title: str
    name: str
    data: bytes = field(repr=False)
    rule: AccessRule | Unmappable
    updated_at: datetime = WRITTEN
    ticket: Ticket | None = None


@dataclass(frozen=True, slots=True)
class Content:
    """What one tenant has, by revision."""

    tenant: str
    revisions: Mapping[int, tuple[Item, ...]]

    def items(self, revision: int = LATEST) -> tuple[Item, ...]:
        """Return the items of a revision, by id.

        Raises:
            ValueError: There is no such revision.
        """
        if revision not in self.revisions:
            raise ValueError(f"{self.tenant} has no revision {revision}")
        return self.revisions[revision]


def load_content(tenant: str, folder: Path = CONTENT, people: People | None = None) -> Content:
    """Read all that a tenant has.

    Raises:
        ValueError: A file is wrong, or the manifest names a place that does not exist: the place that
            was meant would be open to more people.
    """
    root = folder / tenant
    found = people or load_people()
    names = found.names(tenant)
    words = frozenset(
        {f"u:{person}" for person in names}
        | {f"g:{group}" for group in found.company(tenant).groups}
    )
    manifest = parse_manifest(read_yaml(root / "manifest.yaml"), tenant, words)
    first = _Reader(root, manifest, names).items()
    second = manifest.at_revision_2()
    later = {
        **_Reader(root, second, names).items(),
        **_Reader(root / "revision-2", second, names).items(),
    }
    _check_places(manifest, tenant, (*first.values(), *later.values()))
    gone = {event.document for event in manifest.history if isinstance(event, Deleted)}
    kept = [
        item if item == first.get(item.id) else replace(item, updated_at=CHANGED)
        for item in later.values()
        if item.id not in gone
    ]
    return Content(tenant, {1: _sorted(first.values()), 2: _sorted(kept)})


@dataclass(frozen=True, slots=True)
class _Reader:
    root: Path
    manifest: Manifest
    names: Mapping[str, str]

    def items(self) -> dict[str, Item]:
        found = [
            *(self._page(path) for path in _files(self.root / "wiki", "*.md")),
            *(i for path in _files(self.root / "tickets", "*.yaml") for i in self._ticket(path)),
            *(self._file(path) for path in _files(self.root / "files", "*")),
        ]
        return {item.id: item for item in found}

    def _page(self, path: Path) -> Item:
        page_id = path.relative_to(self.root).with_suffix("").as_posix()
        data = path.read_bytes()
        first = data.decode().partition("\n")[0]
        if not first.startswith("# "):
            raise ValueError(f"{page_id}: a page begins with its title, like # Leave")
        return self._item(page_id, Kind.PAGE, first[2:].strip(), path.name, data)

    def _file(self, path: Path) -> Item:
        file_id = path.relative_to(self.root).as_posix()
        return self._item(file_id, Kind.FILE, path.name, path.name, path.read_bytes())

    def _item(self, item_id: str, kind: Kind, title: str, name: str, data: bytes) -> Item:
        place = self.manifest.moved.get(item_id, item_id)
        rule = rule_of(self.manifest.layers_on_the_way(place))
        return Item(item_id, kind, place, title, name, data, rule)

    def _ticket(self, path: Path) -> Iterator[Item]:
        ticket_id = path.relative_to(self.root).with_suffix("").as_posix()
        ticket = parse_ticket(read_yaml(path), ticket_id)
        if ticket.reference != path.stem:
            raise ValueError(f"{ticket_id}: the file holds {ticket.reference}")
        for person in (ticket.reporter, *(comment.author for comment in ticket.comments)):
            if person not in self.names:
                raise ValueError(f"{ticket_id}: there is no {person}")
        title, name = f"{ticket.reference}: {ticket.title}", f"{ticket.reference}.md"
        item = self._item(
            ticket_id, Kind.TICKET, title, name, ticket.to_markdown(self.names).encode()
        )
        layers = (*self.manifest.layers_on_the_way(item.place), self._level(ticket, ticket_id))
        item = replace(item, rule=rule_of(layers), ticket=ticket)
        yield item
        for number, comment in enumerate(ticket.comments, start=1):
            if comment.is_internal:
                yield replace(
                    item,
                    id=f"{item.id}/internal-{number}",
                    kind=Kind.COMMENT,
                    place=f"{item.place}/internal-{number}",
                    title=f"{ticket.reference}: internal comment",
                    data=internal_to_markdown(ticket, comment, self.names).encode(),
                    rule=rule_of((*layers, self._internal(path.parent.name, ticket_id))),
                )

    def _level(self, ticket: Ticket, where: str) -> Layer:
        if ticket.level not in self.manifest.levels:
            raise ValueError(f"{where}: the manifest has no level {ticket.level}")
        return self.manifest.levels[ticket.level].with_reporter(ticket.reporter)

    def _internal(self, queue: str, where: str) -> Layer:
        layer = self.manifest.internal_comments.get(queue)
        if layer is None or layer.allow is None:
            raise ValueError(
                f"{where}: the manifest does not say who may read the internal comments of {queue}"
            )
        return layer


def _files(folder: Path, pattern: str) -> Iterator[Path]:
    return (path for path in sorted(folder.rglob(pattern)) if path.is_file())


def _check_places(manifest: Manifest, tenant: str, items: Iterable[Item]) -> None:
    ids = {item.id for item in items}
    places = {step for item in items for step in _steps(item.place)}
    named = {event.document for event in manifest.history}
    if unknown := sorted({*manifest.layers} - places) + sorted(named - ids):
        raise ValueError(f"{tenant}, manifest: there is no {unknown[0]}")


def _steps(place: str) -> Iterator[str]:
    parts = place.split("/")
    return ("/".join(parts[:end]) for end in range(1, len(parts) + 1))


def _sorted(items: Iterable[Item]) -> tuple[Item, ...]:
    return tuple(sorted(items, key=lambda item: item.id))
