"""What a person may not see changes nothing for that person: not what is found, nor its order, nor a score."""

import random
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import replace
from typing import TypeAlias

from cogni_application.retrieval.retrieve import RetrievalRequest, RetrievalService
from cogni_domain.knowledge.analysis import analyse_question
from cogni_domain.knowledge.relevance import RelevancePolicy
from cogni_domain.knowledge.source import ChangeKind
from cogni_testing.assertions import ok
from cogni_testing.doubles import LexicalReranker
from cogni_testing.histories.company import WIDE, Company
from cogni_testing.histories.errors import DifferenceError, together
from cogni_testing.histories.happenings import AT_THE_SOURCE, AT_THE_SOURCE_WEIGHTS
from cogni_testing.histories.product import Product, Stores

WORDS = ("parental", "sick", "travel", "leave", "notice", "budget")
TEXTS = tuple(
    " ".join(random.Random(number).choices(WORDS, k=1 + number % 5)) for number in range(24)
)
WORLD = replace(WIDE, pages=tuple(f"p{number}" for number in range(12)), neighbours=1, texts=TEXTS)
EVENTS, QUESTIONS, MOST = 24, 10, 3

Answer: TypeAlias = Sequence[object]


class TwoWorlds:
    """A company after some changes, and one that has only what one person may see of it, made from scratch."""

    def __init__(self, seed: int, stores: Stores) -> None:
        self._dice, self._stores, self._name = random.Random(seed), stores, f"world {seed}"
        self._person = WORLD.people[0]
        self._whole = Product(Company(WORLD), stores, self._name)
        self._rest: Product | None = None
        self.tells = False

    async def make_the_whole(self) -> None:
        await self._whole.set_up()
        for _ in range(EVENTS):
            happening = self._dice.choices(AT_THE_SOURCE, AT_THE_SOURCE_WEIGHTS)[0]
            change = happening(self._whole.company, self._dice)
            if change is not None:
                await self._whole.tell(change.kind, change.pages)
                await self._whole.tell_people()

    async def make_the_rest(self) -> None:
        """Make the second world; what is in both has the same ids there, since they part equal scores."""
        company, ids = deepcopy(self._whole.company), await self._whole.documents()
        people = self._dice.sample(WORLD.people, len(WORLD.people))
        partly = [p for p in people if 0 < len(company.readable(p)) < len(ids)]
        self._person, self.tells = (*partly, *people)[0], bool(partly)
        readable = company.readable(self._person)
        company.pages = {name: company.pages[name] for name in sorted(readable) if name[-2] != "!"}
        names = [n for page in company.pages for n in (page, f"{page}!1") if n in readable]
        in_order = iter([str(ids[name]) for name in names])
        rest = Product(company, self._stores, f"{self._name}, the rest", lambda: next(in_order))
        await rest.set_up()
        await rest.tell(ChangeKind.EDITED, list(company.pages))
        self._rest = rest

    async def compare(self) -> None:
        """Ask both worlds the same.

        Raises:
            DifferenceError: Their answers differ.
        """
        assert self._rest is not None
        for _ in range(QUESTIONS):
            question = " ".join(self._dice.choices(WORDS, k=self._dice.randint(1, 4)))
            whole = await self._answer(self._whole, question)
            rest = await self._answer(self._rest, question)
            if whole != rest:
                raise DifferenceError(
                    f"{self._name}: asked for {question}, {self._person} got {whole}, not {rest}"
                )

    async def _answer(self, product: Product, question: str) -> Answer:
        stores, index = self._stores, product.corpus.index
        principal = await product.principal(self._person)
        assert principal is not None
        scope = ok(await product.scopes.resolve(principal, [product.corpus_id]))
        vector = ok(await stores.embedder.embed([question]))
        terms = analyse_question(question)
        service = RetrievalService(
            *(product.scopes, stores.documents, stores.keywords, stores.vectors),
            *(stores.embedder, LexicalReranker(), RelevancePolicy()),
        )
        asked = RetrievalRequest(question, principal, (product.corpus_id,), MOST)
        retrieved = ok(await service.retrieve(asked))
        return (
            ok(await stores.keywords.search(index, terms, scope.predicate, MOST)),
            ok(await stores.vectors.knn(index, vector, scope.predicate, MOST)),
            [(each.chunk.id, each.chunk.text, each.score) for each in retrieved.chosen],
            replace(retrieved.decision, scope_digest=""),
        )


async def compare_worlds(seeds: Sequence[int], stores: Stores) -> int:
    """Compare one world a seed with what one person may see of it, all as tenants of the same stores.

    Returns:
        In how many the person saw something, and something else was hidden.

    Raises:
        DifferenceError: An answer told of what is hidden.
    """
    worlds = [TwoWorlds(seed, stores) for seed in seeds]
    for world in worlds:
        await world.make_the_whole()
    await stores.worker.work_off()
    for world in worlds:
        await world.make_the_rest()
    await stores.worker.work_off()
    await together(world.compare() for world in worlds)
    return sum(world.tells for world in worlds)
