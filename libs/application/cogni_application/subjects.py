"""The record that a person looks at, under that person's own rights."""

from collections.abc import Sequence
from dataclasses import dataclass

from cogni_application.indexing.intake import qualified_id
from cogni_domain.access.principal import Principal
from cogni_domain.access.scope import Scope, ScopePolicy
from cogni_domain.knowledge.corpus import Chunk
from cogni_domain.ports.document_store import DocumentStorePort
from cogni_domain.ports.subject import SubjectPort
from cogni_domain.subjects import Subject, SubjectRef, VisibleContext
from cogni_kernel import Err, HumanText, NotFoundError, NotPermittedError, Ok, Result

NOT_FOUND = HumanText("There is nothing here under that name that you can open.")

MAX_PASSAGES = 6


@dataclass(frozen=True, slots=True)
class SubjectInView:
    """A subject with what may be quoted of it: passages of its document, none for a record that is none."""

    subject: Subject
    passages: tuple[Chunk, ...] = ()


@dataclass(frozen=True, slots=True)
class SubjectService:
    """Looks a reference up. What the person may not read is as what is not there.

    Source:
        COGNI.BUILD spec, package surfaces, "SubjectRef"; DESIGN D11, D16, D23.
    """

    subjects: SubjectPort
    documents: DocumentStorePort
    scopes: ScopePolicy

    async def context(
        self, asked: tuple[str, str] | None, principal: Principal
    ) -> Result[VisibleContext]:
        """Return what the assistant would see of a page's reference: nothing where this person sees nothing."""
        if asked is None:
            return Ok(VisibleContext(()))
        found = await self.visible(*asked, principal)
        if isinstance(found, Err):
            return Ok(VisibleContext(())) if isinstance(found.error, NotFoundError) else found
        return Ok(VisibleContext((found.value.subject,)))

    async def visible(self, kind: str, name: str, principal: Principal) -> Result[SubjectInView]:
        """Return a subject within the person's whole reach.

        Errors:
            NotFoundError: It is absent, or not for this person: indistinguishable.
        """
        if principal.tenant_id is None:
            return Err(NotPermittedError(NOT_FOUND))
        corpora = await self.documents.corpora(principal.tenant_id)
        if isinstance(corpora, Err):
            return corpora
        scope = await self.scopes.resolve(principal, [c.id for c in corpora.value])
        return scope if isinstance(scope, Err) else await self.under(kind, name, scope.value)

    async def under(self, kind: str, name: str, scope: Scope) -> Result[SubjectInView]:
        """Return a subject as far as `scope` admits it.

        One whose text is a document is there only if the database says so: what a host would show and the
        product may not read is left out.

        Errors:
            NotFoundError: It is absent, or not for this scope: indistinguishable.
        """
        found = await self.subjects.resolve(SubjectRef(kind, name, scope.tenant_id), scope)
        if isinstance(found, Err):
            return found
        if found.value.source is None:
            return Ok(SubjectInView(found.value))
        passages = await self._passages(found.value, scope)
        if isinstance(passages, Err):
            return passages
        if not passages.value:
            return Err(NotFoundError(NOT_FOUND))
        return Ok(SubjectInView(found.value, tuple(passages.value)))

    async def _passages(self, subject: Subject, scope: Scope) -> Result[Sequence[Chunk]]:
        source = subject.source
        assert source is not None
        name = qualified_id(source.connector_id, source.source_id)
        known = await self.documents.known(scope.tenant_id, source.corpus_id, [name])
        if isinstance(known, Err) or not known.value:
            return known if isinstance(known, Err) else Ok(())
        chunks = await self.documents.chunks_of(scope.tenant_id, [known.value[0].id])
        if isinstance(chunks, Err):
            return chunks
        return await self.documents.current([c.id for c in chunks.value[:MAX_PASSAGES]], scope)
