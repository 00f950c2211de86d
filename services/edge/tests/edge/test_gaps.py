"""The gap list is for who administers the assistant, in person, and of the own tenant alone."""

from typing import TYPE_CHECKING

import pytest

from cogni_application.attached_files import ATTACHMENTS
from cogni_application.gaps import ADMINISTER, MOST
from cogni_domain.access.tokens import user_token
from cogni_domain.knowledge.corpus import Corpus, IndexId
from cogni_domain.knowledge.source import Gap
from cogni_kernel import CorpusId, PrincipalId, TenantId
from cogni_testing import START, ok

if TYPE_CHECKING:
    from tests.edge.conftest import World

ACME, GLOBEX = TenantId("acme"), TenantId("globex")
FILES = CorpusId("files")
GAP = Gap("folder:plan.pdf", "plan.pdf", "encrypted", "Save it without a password.", START)


async def lists(world: "World", tenant: TenantId = ACME, corpus: CorpusId = FILES) -> None:
    index = IndexId(tenant, corpus)
    ok(await world.documents.put_corpus(Corpus(corpus, tenant, "Files", index, "hash@1")))
    ok(await world.documents.put_gaps(tenant, corpus, GAP.source_id, [GAP]))


async def make_administrator(world: "World", person: str = "alice") -> None:
    token = user_token(PrincipalId(person))
    ok(await world.directory.set_grants(ACME, token, frozenset({ADMINISTER})))


async def test_an_administrator_sees_what_was_not_indexed_and_why(world: "World") -> None:
    await lists(world)
    await make_administrator(world)

    answer = await world.call("GET", "/v1/gaps?corpus=files")

    assert answer.status_code == 200, answer.text
    [corpus] = answer.json()["corpora"]
    assert (corpus["corpus_id"], corpus["total"]) == ("files", 1)
    assert corpus["gaps"] == [
        {
            "source_id": "folder:plan.pdf",
            "name": "plan.pdf",
            "reason": "encrypted",
            "explanation": "Save it without a password.",
            "seen_at": START.isoformat(),
        }
    ]


async def test_nobody_else_can_tell_that_there_is_such_a_list(world: "World") -> None:
    await lists(world)

    answer = await world.call("GET", "/v1/gaps")
    nowhere = await world.call("GET", "/v1/nowhere")

    assert (answer.status_code, answer.json()) == (404, nowhere.json())
    assert (await world.call("GET", "/v1/gaps", None)).status_code == 401


async def test_another_tenants_gaps_and_what_persons_attached_are_not_on_it(world: "World") -> None:
    await lists(world, GLOBEX, CorpusId("theirs"))
    await lists(world, ACME, ATTACHMENTS)
    await make_administrator(world)

    answer = await world.call("GET", "/v1/gaps")

    names = {corpus["corpus_id"] for corpus in answer.json()["corpora"]}
    assert not names & {"theirs", str(ATTACHMENTS)}
    for other in ("theirs", str(ATTACHMENTS)):
        found = await world.call("GET", f"/v1/gaps?corpus={other}")
        assert found.json() == {"corpora": []}


async def test_a_long_list_is_cut_and_says_how_long_it_is(world: "World") -> None:
    await lists(world)
    await make_administrator(world)
    ok(await world.documents.put_gaps(ACME, FILES, "many", [GAP] * (MOST + 5)))

    [corpus] = (await world.call("GET", "/v1/gaps?corpus=files")).json()["corpora"]

    assert (len(corpus["gaps"]), corpus["total"]) == (MOST, MOST + 6)


@pytest.mark.parametrize("corpus", ["", "x" * 65])
async def test_a_corpus_that_can_be_none_is_refused(world: "World", corpus: str) -> None:
    await make_administrator(world)

    answer = await world.call("GET", f"/v1/gaps?corpus={corpus}")

    assert (answer.status_code, answer.json()["field"]) == (422, "corpus")
