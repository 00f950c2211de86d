"""A company's source with its permissions, its history, and a reference that reads them off the source itself.

The reference shares no code with the product: it walks the tree and asks of each layer whether a person is in.
"""

import random
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

import numpy as np
import pytest

from cogni_adapters.memory.access_rules import MemoryAccessRulesAdapter
from cogni_adapters.memory.directory import MemoryDirectoryAdapter
from cogni_adapters.memory.documents import MemoryDocumentStoreAdapter
from cogni_adapters.memory.keyword_search import MemoryKeywordSearchAdapter
from cogni_adapters.memory.queue import MemoryQueueAdapter
from cogni_adapters.memory.state import MemoryState
from cogni_adapters.memory.vector_store import MemoryVectorStoreAdapter
from cogni_application.indexing.index import IndexWriter
from cogni_application.indexing.ingest import IndexingService
from cogni_application.indexing.intake import INDEX, RELABEL, REMOVE, Intake
from cogni_application.lanes import LaneWorker
from cogni_domain.access.directory import Account, Tenant, VerifiedClaims
from cogni_domain.access.grants import GrantCatalogue
from cogni_domain.access.principal import MembershipState, Principal, PrincipalKind
from cogni_domain.access.resolver import HostToken, PrincipalResolver, TokenVerifier
from cogni_domain.access.rule import AccessRule, Unmappable
from cogni_domain.access.scope import ScopePolicy
from cogni_domain.jobs import Job, Lane
from cogni_domain.knowledge.chunking import ChunkPolicy
from cogni_domain.knowledge.corpus import Corpus, IndexId
from cogni_domain.knowledge.extracted import (
    Attachment,
    Block,
    BlockKind,
    ExtractedDocument,
    Skipped,
)
from cogni_domain.knowledge.source import ChangeEvent, ChangeKind, SourceDocument, SourcePage
from cogni_domain.ports.connector import ConnectorPort
from cogni_domain.ports.embedder import EmbedderPort, Vectors
from cogni_domain.ports.extractor import ExtractorPort
from cogni_kernel import (
    CorpusId,
    Err,
    HumanText,
    NotFoundError,
    Ok,
    PrincipalId,
    Result,
    TenantId,
)
from cogni_testing import START, FrozenClock, SequentialIds, ok

PEOPLE = ("ada", "ben", "cleo")
GROUPS = ("hr", "eng", "leads")
SPACES = ("open", "staff")
PAGES = ("p1", "p2", "p3", "p4", "p5")
TOKENS = (*(f"u:{p}" for p in PEOPLE), *(f"g:wiki/{g}" for g in GROUPS))


@dataclass
class Page:
    """A page as its source keeps it.

    Attributes:
        parent: The page above it, None at the top of its space.
        only: Who alone may view it and what is below it; None where the page restricts nothing.
        never: Who may not.
        unclear: Its restrictions cannot be read.
    """

    space: str
    parent: str | None = None
    only: frozenset[str] | None = None
    never: frozenset[str] = frozenset()
    unclear: bool = False
    revision: int = 1
    attached: bool = False


@dataclass
class Company:
    """The source of truth: spaces, pages, groups within groups, people."""

    enabled: bool = True
    spaces: dict[str, frozenset[str] | None] = field(
        default_factory=lambda: {"open": None, "staff": frozenset({"g:wiki/hr"})}
    )
    pages: dict[str, Page] = field(default_factory=dict)
    members: dict[str, set[str]] = field(
        default_factory=lambda: {"hr": {"ada"}, "eng": {"ben", "cleo"}, "leads": {"ada", "ben"}}
    )
    inside: dict[str, set[str]] = field(default_factory=lambda: {g: set() for g in GROUPS})
    suspended: set[str] = field(default_factory=set)
    unknown: set[str] = field(default_factory=set)
    revisions: int = 0

    def next_revision(self) -> int:
        self.revisions += 1
        return self.revisions

    def line(self, page: str) -> list[Page]:
        """Return a page and all above it."""
        found, name = [], page
        while True:
            found.append(self.pages[name])
            above = self.pages[name].parent
            if above is None:
                return found
            name = above

    def below(self, page: str) -> list[str]:
        """Return a page and all below it."""
        return [p for p in self.pages if self.pages[page] in self.line(p)]

    def in_group(self, person: str, group: str) -> bool:
        """Whether a person is in a group, or in one inside it, however deep and even in circles."""
        seen, waiting = set(), [group]
        while waiting:
            one = waiting.pop()
            if one in seen:
                continue
            seen.add(one)
            if person in self.members[one]:
                return True
            waiting.extend(self.inside[one])
        return False

    def is_one_of(self, person: str, listed: frozenset[str]) -> bool:
        return any(
            name == f"u:{person}" or (name[:2] == "g:" and self.in_group(person, name[7:]))
            for name in listed
        )

    def may_read(self, person: str, page: str) -> bool:
        """The reference."""
        if not self.enabled or person in self.suspended | self.unknown:
            return False
        readers = self.spaces[self.pages[page].space]
        if readers is not None and not self.is_one_of(person, readers):
            return False
        for layer in self.line(page):
            if layer.unclear or self.is_one_of(person, layer.never):
                return False
            if layer.only is not None and not self.is_one_of(person, layer.only):
                return False
        return True

    def readable(self, person: str) -> set[str]:
        """Return all that a person may read, attachments too."""
        mine = [page for page in self.pages if self.may_read(person, page)]
        return {*mine, *(f"{page}!1" for page in mine if self.pages[page].attached)}

    def groups_of(self, person: str) -> frozenset[str]:
        """Return the groups, and some of another source that have the same names as those it is not in."""
        return frozenset(f"{'wiki' if self.in_group(person, g) else 'crm'}/{g}" for g in GROUPS)


@dataclass(frozen=True)
class Change:
    """Something that happened to a company: to these pages, or to its people."""

    text: str
    pages: Sequence[str] = ()
    kind: ChangeKind = ChangeKind.EDITED
    of_people: bool = False


def _some(dice: random.Random, most: int) -> frozenset[str]:
    return frozenset(dice.sample(TOKENS, dice.randint(0, most)))


def _add(company: Company, dice: random.Random) -> Change | None:
    missing = [page for page in PAGES if page not in company.pages]
    if not missing:
        return None
    name, parent = dice.choice(missing), dice.choice([None, *company.pages])
    space = company.pages[parent].space if parent else dice.choice(SPACES)
    only = _some(dice, 3) if dice.random() < 0.2 else None
    company.pages[name] = Page(space, parent, only, revision=company.next_revision())
    company.pages[name].attached = dice.random() < 0.4
    return Change(f"add {name} {company.pages[name]}", [name])


def _edit(company: Company, dice: random.Random) -> Change | None:
    if not company.pages:
        return None
    name = dice.choice(list(company.pages))
    company.pages[name].revision = company.next_revision()
    company.pages[name].attached ^= dice.random() < 0.4
    return Change(f"edit {name}", [name])


def _move(company: Company, dice: random.Random) -> Change | None:
    if not company.pages:
        return None
    name = dice.choice(list(company.pages))
    below = company.below(name)
    parent = dice.choice([None, *(p for p in company.pages if p not in below)])
    space = company.pages[parent].space if parent else dice.choice(SPACES)
    company.pages[name].parent = parent
    for page in below:
        company.pages[page].space = space
    return Change(f"move {name} to {parent or space}", below, ChangeKind.MOVED)


def _delete(company: Company, dice: random.Random) -> Change | None:
    if len(company.pages) < 2:
        return None
    gone = company.below(dice.choice(list(company.pages)))
    for page in gone:
        del company.pages[page]
    return Change(f"delete {gone}", gone, ChangeKind.DELETED)


def _restrict(company: Company, dice: random.Random) -> Change | None:
    if not company.pages:
        return None
    name = dice.choice(list(company.pages))
    only = None if dice.random() < 0.5 else _some(dice, 3)
    company.pages[name].only = only
    text = f"restrict {name} to {None if only is None else sorted(only)}"
    return Change(text, company.below(name), ChangeKind.ACL_CHANGED)


def _deny(company: Company, dice: random.Random) -> Change | None:
    if not company.pages:
        return None
    name = dice.choice(list(company.pages))
    company.pages[name].never = frozenset() if dice.random() < 0.5 else _some(dice, 1)
    text = f"deny {name} to {sorted(company.pages[name].never)}"
    return Change(text, company.below(name), ChangeKind.ACL_CHANGED)


def _blur(company: Company, dice: random.Random) -> Change | None:
    if not company.pages:
        return None
    name = dice.choice(list(company.pages))
    unclear = [page for page in company.pages if company.pages[page].unclear]
    name = unclear[0] if unclear else name
    company.pages[name].unclear = not unclear
    text = f"{name} is unclear: {company.pages[name].unclear}"
    return Change(text, company.below(name), ChangeKind.ACL_CHANGED)


def _space(company: Company, dice: random.Random) -> Change | None:
    name = dice.choice(SPACES)
    readers = None if dice.random() < 0.5 else _some(dice, 4)
    company.spaces[name] = readers
    mine = [page for page, of in company.pages.items() if of.space == name]
    text = f"space {name} for {None if readers is None else sorted(readers)}"
    return Change(text, mine, ChangeKind.ACL_CHANGED)


def _join(company: Company, dice: random.Random) -> Change | None:
    person, group = dice.choice(PEOPLE), dice.choice(GROUPS)
    company.members[group] ^= {person}
    return Change(f"{group} is {sorted(company.members[group])}", of_people=True)


def _nest(company: Company, dice: random.Random) -> Change | None:
    outer, inner = dice.choice(GROUPS), dice.choice(GROUPS)
    company.inside[outer] ^= {inner}
    return Change(f"in {outer} are {sorted(company.inside[outer])}", of_people=True)


def _suspend(company: Company, dice: random.Random) -> Change | None:
    company.suspended = set() if company.suspended else {dice.choice(PEOPLE)}
    return Change(f"suspended are {sorted(company.suspended)}", of_people=True)


def _forget(company: Company, dice: random.Random) -> Change | None:
    company.unknown = set() if company.unknown else {dice.choice(PEOPLE)}
    return Change(f"groups unknown of {sorted(company.unknown)}", of_people=True)


def _switch(company: Company, dice: random.Random) -> Change | None:
    if company.enabled and dice.random() < 0.7:
        return None
    company.enabled = not company.enabled
    return Change(f"enabled: {company.enabled}", of_people=True)


HAPPENINGS = (
    *(_add, _edit, _move, _delete, _restrict, _deny),
    *(_blur, _space, _join, _nest, _suspend, _forget, _switch),
)
WEIGHTS = (16, 3, 5, 2, 6, 4, 2, 3, 6, 2, 1, 1, 1)


class Wiki(ConnectorPort):
    """Lists the company's pages, each with the rule of all its layers."""

    def __init__(self, company: Company) -> None:
        self._company = company

    @property
    def id(self) -> str:
        return "wiki"

    def listed(self, name: str) -> SourceDocument:
        page = self._company.pages[name]
        return SourceDocument(name, name, self._rule(name), str(page.revision), START)

    def _rule(self, name: str) -> AccessRule | Unmappable:
        line = self._company.line(name)
        if any(layer.unclear for layer in line):
            return Unmappable("Its restrictions cannot be read.")
        readers = self._company.spaces[line[0].space]
        rule = AccessRule.everyone() if readers is None else AccessRule.any_of(*readers)
        for layer in line:
            if layer.only is not None:
                rule = rule.restricted_to(*layer.only)
            rule = rule.except_for(*layer.never)
        return rule

    async def enumerate(self, cursor: str | None) -> Result[SourcePage]:
        return Ok(SourcePage([self.listed(name) for name in sorted(self._company.pages)], None))

    async def extract(self, document: SourceDocument) -> Result[ExtractedDocument | Skipped]:
        page = self._company.pages.get(document.source_id)
        if page is None:
            return Err(NotFoundError(HumanText("It is gone.")))
        attached = (Attachment(f"{document.name}.txt", b"x"),) if page.attached else ()
        return Ok(_text(document.name, attached))

    async def changes(self) -> AsyncIterator[ChangeEvent]:
        nothing: tuple[ChangeEvent, ...] = ()
        for event in nothing:
            yield event


class Plain(ExtractorPort):
    async def extract(self, name: str, data: bytes) -> ExtractedDocument | Skipped:
        return _text(name)


def _text(name: str, attached: tuple[Attachment, ...] = ()) -> ExtractedDocument:
    return ExtractedDocument(name, (Block(BlockKind.PARAGRAPH, "leave"),), "text/plain", attached)


class Same(EmbedderPort):
    """Every text is as near as any other: only permissions tell them apart."""

    @property
    def dimension(self) -> int:
        return 2

    @property
    def version(self) -> str:
        return "same@1"

    async def embed(self, texts: Sequence[str]) -> Result[Vectors]:
        return Ok(np.tile(np.array([[1.0, 0.0]], np.float32), (len(texts), 1)))


class NoTokens(TokenVerifier):
    async def verify(self, token: HostToken) -> Result[VerifiedClaims]:
        raise AssertionError("nobody signs in here")


@dataclass
class Stores:
    """What the product keeps things in; by default in memory."""

    state: MemoryState = field(default_factory=MemoryState)
    clock: FrozenClock = field(default_factory=FrozenClock)

    def __post_init__(self) -> None:
        self.documents: Any = MemoryDocumentStoreAdapter(self.state)
        self.rules: Any = MemoryAccessRulesAdapter(self.state)
        self.queue: Any = MemoryQueueAdapter(self.state, self.clock)
        self.directory: Any = MemoryDirectoryAdapter()
        self.keywords: Any = MemoryKeywordSearchAdapter()
        self.vectors: Any = MemoryVectorStoreAdapter()


class Product:
    """One tenant in the product, fed from a company."""

    def __init__(self, company: Company, stores: Stores, tenant: str) -> None:
        self.company, self.stores = company, stores
        self.tenant, self.corpus_id = TenantId(tenant), CorpusId("handbook")
        self.wiki = Wiki(company)
        embedder = Same()
        index = IndexId(self.tenant, self.corpus_id)
        self.corpus = Corpus(self.corpus_id, self.tenant, "Handbook", index, embedder.version)
        self.scopes = ScopePolicy(stores.rules)
        self.resolver = PrincipalResolver(NoTokens(), stores.directory, GrantCatalogue())
        intake = Intake(
            stores.documents, Plain(), ChunkPolicy(), stores.clock, SequentialIds(tenant)
        )
        self.indexing = IndexingService(
            stores.documents, stores.queue, intake, stores.clock, lambda _: self.wiki
        )
        writer = IndexWriter(stores.documents, stores.keywords, stores.vectors, embedder)
        handlers = {INDEX: writer.index, RELABEL: writer.relabel, REMOVE: writer.remove}
        self.worker = LaneWorker(stores.queue, Lane.INDEXING, handlers)

    async def set_up(self) -> None:
        ok(await self.stores.documents.put_corpus(self.corpus))
        await self.tell_people(PEOPLE)

    async def tell_tenant(self) -> None:
        tenant = Tenant(self.tenant, "Acme", self.company.enabled)
        ok(await self.stores.directory.put_tenant(tenant))

    async def tell_people(self, people: Sequence[str]) -> None:
        await self.tell_tenant()
        for person in people:
            principal, active = PrincipalId(person), person not in self.company.suspended
            account = Account(principal, self.tenant, PrincipalKind.HUMAN, person, active=active)
            ok(await self.stores.directory.put_account(account, person))
            is_unknown = person in self.company.unknown
            state = MembershipState.UNKNOWN if is_unknown else MembershipState.KNOWN
            groups = self.company.groups_of(person)
            ok(await self.stores.directory.set_memberships(self.tenant, principal, groups, state))

    async def tell(self, kind: ChangeKind, pages: Sequence[str]) -> None:
        """Tell of pages that changed, one after the other."""
        for page in pages:
            is_there = page in self.company.pages
            document = self.wiki.listed(page) if is_there else None
            event = ChangeEvent(kind if is_there else ChangeKind.DELETED, page, document)
            ok(await self.indexing.on_change(self.corpus, self.wiki, event))

    async def ingest(self) -> None:
        """Read the whole source, without having been told of anything."""
        queue, payload = self.stores.queue, {"corpus_id": str(self.corpus_id)}
        ok(await queue.enqueue(Job("ingest", self.tenant, "wiki", payload), Lane.AMBIENT))
        job = ok(await queue.dequeue(Lane.AMBIENT, timedelta(hours=1)))
        assert job is not None
        ok((await self.indexing.ingest([job]))[0])
        ok(await queue.complete(job))

    async def principal(self, person: str) -> Principal | None:
        found = await self.resolver.current(self.tenant, PrincipalId(person))
        return found.value if isinstance(found, Ok) else None

    async def seen(self, person: str) -> "Seen":
        """Return what a person's request would see now, by each way there is."""
        principal = await self.principal(person)
        return NOTHING if principal is None else await self.seen_by(principal)

    async def seen_by(self, principal: Principal) -> "Seen":
        resolved = await self.scopes.resolve(principal, [self.corpus_id])
        if isinstance(resolved, Err):
            return NOTHING
        scope, index = resolved.value, self.corpus.index
        found, filled = {}, {}
        for name, (search, asked) in {
            "keywords": (self.stores.keywords.search, TERMS),
            "vectors": (self.stores.vectors.knn, NEAR),
        }.items():
            hits = [h.chunk_id for h in ok(await search(index, asked, scope.predicate, 200))]
            current = ok(await self.stores.documents.current(hits, scope))
            found[name] = {_name(chunk.title) for chunk in current}
            filled[name] = len(ok(await search(index, asked, scope.predicate, 2)))
        known = ok(await self.stores.documents.known(self.tenant, self.corpus_id, SOURCE_IDS))
        names = {document.id: _name(document.title) for document in known}
        readable = ok(await self.stores.documents.readable(names, scope))
        return Seen({names[document] for document in readable}, found, filled)

    async def seen_by_delegate(self, machine: str, person: str) -> "Seen":
        """Return what a machine sees that acts for a person."""
        parties = [await self.principal(machine), await self.principal(person)]
        if None in parties:
            return NOTHING
        robot, behind = parties
        assert robot is not None
        delegate = replace(robot, kind=PrincipalKind.DELEGATED, on_behalf_of=behind)
        return await self.seen_by(delegate)


def _name(title: str) -> str:
    """Return a page's name, or its attachment's."""
    return f"{title[:-4]}!1" if title.endswith(".txt") else title


TERMS = ["leav"]
SOURCE_IDS = [f"wiki:{page}{attached}" for page in PAGES for attached in ("", "!1")]
NEAR: Vectors = np.array([[1.0, 0.0]], np.float32)


@dataclass(frozen=True)
class Seen:
    """What one request saw: by id, in each search, and how many of two places each search filled."""

    by_id: set[str]
    found: dict[str, set[str]]
    filled: dict[str, int]


NOTHING = Seen(set(), {"keywords": set(), "vectors": set()}, {"keywords": 0, "vectors": 0})


class DifferenceError(AssertionError):
    """The product showed something else than the source allows."""


@dataclass
class History:
    """Two companies in one product; what happens to them is drawn from a seed."""

    seed: int
    stores: Stores = field(default_factory=Stores)

    def __post_init__(self) -> None:
        self.dice = random.Random(self.seed)
        names = (f"acme {self.seed}", f"globex {self.seed}")
        self.products = [Product(Company(), self.stores, name) for name in names]
        self.is_stopped = False
        self.log: list[str] = []
        self.compared = Counter[str]()

    async def run(self, events: int = 40) -> None:
        """Let things happen; compare now and then, and at the end with everything indexed.

        Raises:
            DifferenceError: What was seen differs from what the source allows.
        """
        for product in self.products:
            await product.set_up()
        for _ in range(events):
            await self._happen(self.dice.choices(self.products, (5, 1))[0])
            if self.dice.random() < 0.1:
                self.is_stopped = not self.is_stopped
            if self.dice.random() < 0.2:
                await self._compare(self.dice.sample(PEOPLE, 1))
        self.is_stopped = False
        await self._compare(PEOPLE)

    async def _compare(self, people: Sequence[str]) -> None:
        if not self.is_stopped:
            await self.products[0].worker.work_off()
        is_drained = ok(await self.stores.queue.depth(Lane.INDEXING)) == 0
        for product in self.products:
            for person in people:
                allowed = product.company.readable(person)
                seen = await product.seen(person)
                self._judge(person, allowed, seen, is_drained=is_drained)
            if self.dice.random() < 0.5:
                await self._compare_delegate(product, self.dice.choice(PEOPLE), people[0])

    async def _compare_delegate(self, product: Product, machine: str, person: str) -> None:
        seen = await product.seen_by_delegate(machine, person)
        both = product.company.readable(machine) & product.company.readable(person)
        if not all(found <= both for found in (seen.by_id, *seen.found.values())):
            self._differ(f"{machine} for {person}", both, seen)

    def _judge(self, who: str, allowed: set[str], seen: Seen, *, is_drained: bool) -> None:
        kind = "nothing" if not allowed else "something"
        self.compared[f"{kind}, {'indexed' if is_drained else 'behind'}"] += 1
        right = seen.by_id == allowed
        for name, found in seen.found.items():
            right &= found == allowed if is_drained else found <= allowed
            right &= not is_drained or seen.filled[name] == min(2, len(allowed))
        if not right:
            self._differ(who, allowed, seen)

    def _differ(self, who: str, allowed: set[str], seen: Seen) -> None:
        story = "\n  ".join(self.log)
        raise DifferenceError(
            f"seed {self.seed}: {who} may read {sorted(allowed)}, saw {seen}\n  {story}"
        )

    async def _happen(self, product: Product) -> None:
        """Let one thing happen, told at once; or a few that only the next reading of the source finds."""
        if self.dice.random() > 0.08:
            change = self._change(product)
            if change.pages:
                await product.tell(change.kind, change.pages)
            if change.of_people:
                await product.tell_people(PEOPLE)
            return
        changes = [self._change(product) for _ in range(self.dice.randint(1, 3))]
        if any(change.of_people for change in changes):
            await product.tell_people(PEOPLE)
        await product.ingest()
        self.log.append(f"{product.tenant}: read from end to end")

    def _change(self, product: Product) -> Change:
        company = product.company
        ends = [
            (_switch, not company.enabled),
            (_suspend, company.suspended),
            (_forget, company.unknown),
        ]
        while True:
            what = self.dice.choices(HAPPENINGS, WEIGHTS)[0]
            ending = [happening for happening, is_due in ends if is_due]
            if ending and self.dice.random() < 0.3:
                what = self.dice.choice(ending)
            change = what(company, self.dice)
            if change is not None:
                self.log.append(f"{product.tenant}: {change.text}")
                return change


@dataclass
class Kit:
    """What a test of permissions builds with."""

    History: type[History] = History
    Stores: type[Stores] = Stores
    DifferenceError: type[DifferenceError] = DifferenceError


@pytest.fixture
def kit() -> Kit:
    return Kit()
