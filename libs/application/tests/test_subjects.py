"""What a person looks at, as far as that person may read it."""

from dataclasses import replace

from cogni_adapters.memory.access_rules import MemoryAccessRulesAdapter
from cogni_adapters.memory.documents import MemoryDocumentStoreAdapter
from cogni_adapters.memory.state import MemoryState
from cogni_adapters.memory.subjects import MemorySubjectsAdapter
from cogni_application.subjects import SubjectService
from cogni_domain.access.principal import Principal
from cogni_domain.access.rule import AccessRule
from cogni_domain.access.scope import ScopePolicy
from cogni_domain.subjects import Subject, SubjectRef, SubjectSource
from cogni_kernel import NotFoundError
from cogni_testing import corpus_fixture, err, fake_principal, ok

EVERYONE, HR = AccessRule.everyone(), AccessRule.any_of("g:wiki/hr")
PAGES = corpus_fixture(
    {"Leave": "Twenty weeks.", "Salaries": "64 to 82 thousand."},
    {"Leave": EVERYONE, "Salaries": HR},
)
ANYBODY = fake_principal(tenant=str(PAGES.corpus.tenant_id))
IN_HR = fake_principal(tenant=str(PAGES.corpus.tenant_id), groups=["wiki/hr"])


async def service(shown_to: AccessRule) -> SubjectService:
    """Return a service over a host that shows every page to who `shown_to` admits."""
    state, host = MemoryState(), MemorySubjectsAdapter()
    documents = MemoryDocumentStoreAdapter(state)
    ok(await documents.put_corpus(PAGES.corpus))
    for document in PAGES.documents:
        kept = replace(document, source_id=f"host:{document.title}")
        ok(await documents.put(kept, PAGES.chunks_of(document), ()))
        source = SubjectSource(PAGES.corpus.id, "host", document.title)
        ref = SubjectRef("page", document.title, document.tenant_id)
        host.put(Subject(ref, document.title, source=source), shown_to)
    return SubjectService(host, documents, ScopePolicy(MemoryAccessRulesAdapter(state)))


async def seen(subjects: SubjectService, page: str, by: Principal) -> list[str]:
    found = ok(await subjects.visible("page", page, by))
    return [chunk.text for chunk in found.passages]


async def test_a_record_that_may_be_read_brings_its_passages() -> None:
    subjects = await service(shown_to=EVERYONE)

    assert await seen(subjects, "Leave", ANYBODY) == ["Twenty weeks."]
    assert await seen(subjects, "Salaries", IN_HR) == ["64 to 82 thousand."]


async def test_the_database_has_the_last_word_over_the_host() -> None:
    subjects = await service(shown_to=EVERYONE)

    err(await subjects.visible("page", "Salaries", ANYBODY), NotFoundError)


async def test_what_the_host_does_not_show_is_not_there() -> None:
    subjects = await service(shown_to=HR)

    err(await subjects.visible("page", "Leave", ANYBODY), NotFoundError)
    assert await seen(subjects, "Leave", IN_HR) == ["Twenty weeks."]


async def test_a_reference_to_nothing_leads_nowhere() -> None:
    subjects = await service(shown_to=EVERYONE)

    for kind, name in (("page", "Nothing"), ("request", "Leave"), ("", "")):
        err(await subjects.visible(kind, name, IN_HR), NotFoundError)


async def test_the_visible_context_is_what_may_be_read_and_else_nothing() -> None:
    subjects = await service(shown_to=EVERYONE)

    async def titles(asked: tuple[str, str] | None, by: Principal) -> list[str]:
        return [item.title for item in ok(await subjects.context(asked, by)).items]

    assert await titles(("page", "Salaries"), IN_HR) == ["Salaries"]
    assert await titles(("page", "Salaries"), ANYBODY) == []
    assert await titles(("page", "Nothing"), IN_HR) == []
    assert await titles(None, IN_HR) == []
    assert ok(await subjects.context(("page", "Leave"), ANYBODY)).removable
