"""What changes about documents without any of them being read or embedded: their readers, their place, their end."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import PurePath
from typing import TypeVar

from cogni_domain.access.rule import AccessRule
from cogni_domain.jobs import Job
from cogni_domain.knowledge.corpus import Corpus, Document
from cogni_domain.knowledge.source import SourceDocument
from cogni_domain.ports.document_store import DocumentStorePort, JobsOf
from cogni_engine import Clock
from cogni_kernel import DocumentId, Err, Ok, Result

RELABEL = "relabel_document"
REMOVE = "remove_document"
AT_ONCE = 500
"""Documents a transaction, and a job."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Standing:
    """Commits such changes together with the jobs that bring the indexes after them.

    Source:
        DESIGN D7, D16.
    """

    documents: DocumentStorePort
    clock: Clock

    async def relabel(self, known: Document, rule: AccessRule) -> Result[bool]:
        """Put a document and all that is attached to it under its rule of now; False where it is the same."""
        if known.rule.digest == rule.digest:
            return Ok(False)
        children = await self.descendants(known)
        if isinstance(children, Err):
            return children
        jobs = self._relabel_jobs(known)([d.id for d in (known, *children.value)], rule)
        done = await self.documents.change_rule(known.tenant_id, known.id, rule, jobs)
        return done if isinstance(done, Err) else Ok(True)

    async def relabel_all(
        self, corpus: Corpus, wanted: dict[str, SourceDocument], is_current: Callable[..., bool]
    ) -> Result[list[str]]:
        """Put documents under their rules of now; return the ids of those that need nothing else.

        Args:
            wanted: By source id within the corpus.
            is_current: Whether a known document still has the content that its source lists.
        """
        done: list[str] = []
        for part in _parts(wanted):
            found = await self.documents.known(corpus.tenant_id, corpus.id, part)
            if isinstance(found, Err):
                return found
            current = [d for d in found.value if is_current(d, wanted[d.source_id])]
            changed = await self._change(corpus, current, wanted)
            if isinstance(changed, Err):
                return changed
            done += [document.source_id for document in current]
        return Ok(done)

    async def _change(
        self, corpus: Corpus, documents: Sequence[Document], wanted: dict[str, SourceDocument]
    ) -> Result[int]:
        rules = {d.id: wanted[d.source_id].rule for d in documents}
        new = {
            d.id: rule
            for d in documents
            if isinstance(rule := rules[d.id], AccessRule) and rule.digest != d.rule.digest
        }
        if not new:
            return Ok(0)

        jobs_of = self._relabel_jobs(documents[0])
        return await self.documents.change_rules(corpus.tenant_id, new, jobs_of)

    async def move(
        self, known: Document, source_id: str, to: SourceDocument, rule: AccessRule
    ) -> Result[bool]:
        """Give a document, and what is attached to it, another place and the rule that holds there.

        False where it is gone, or another document is at that place.
        """
        moved = replace(known, source_id=source_id, rule=rule, updated_at=to.updated_at, url=to.url)
        return await self.documents.move(moved, self._relabel_jobs(known))

    async def remove(self, gone: Sequence[Document]) -> Result[None]:
        """Delete documents with what is attached to them; their passages leave the indexes by jobs."""
        every: list[Document] = []
        for document in gone:
            children = await self.descendants(document)
            if isinstance(children, Err):
                return children
            every += (document, *children.value)
        if not every:
            return Ok(None)
        version = self.clock.now().isoformat()
        jobs = _jobs(REMOVE, every[0], [d.id for d in every], version)
        done = await self.documents.delete(every[0].tenant_id, [d.id for d in every], jobs)
        return done.map(lambda _: None)

    async def remove_all(self, corpus: Corpus, source_ids: Sequence[str]) -> Result[None]:
        """Delete what is known under these source ids, and what is listed of it as a gap."""
        for part in _parts(source_ids):
            found = await self.documents.known(corpus.tenant_id, corpus.id, part)
            if isinstance(found, Err):
                return found
            removed = await self.remove(found.value)
            if isinstance(removed, Err):
                return removed
        return await self._clear_gaps(corpus, source_ids) if source_ids else Ok(None)

    async def _clear_gaps(self, corpus: Corpus, source_ids: Sequence[str]) -> Result[None]:
        place = (corpus.tenant_id, corpus.id)
        found = await self.documents.gaps(*place)
        if isinstance(found, Err):
            return found
        listed = {gap.source_id.partition("!")[0] for gap in found.value}
        for source_id in listed.intersection(source_ids):
            cleared = await self.documents.put_gaps(*place, source_id, [])
            if isinstance(cleared, Err):
                return cleared
        return Ok(None)

    async def descendants(self, document: Document) -> Result[Sequence[Document]]:
        """Return what is attached to a document, however deep, parents first."""
        every: list[Document] = []
        waiting = [document]
        while waiting:
            found = await self.documents.attached(document.tenant_id, waiting.pop().id)
            if isinstance(found, Err):
                return found
            every.extend(found.value)
            waiting.extend(found.value)
        return Ok(every)

    def _relabel_jobs(self, of: Document) -> JobsOf:
        """Return what makes jobs for documents of the same corpus as `of`."""
        now = self.clock.now().isoformat()

        def jobs_of(documents: Sequence[DocumentId], rule: AccessRule) -> Sequence[Job]:
            return _jobs(RELABEL, of, documents, f"{rule.digest}@{now}")

        return jobs_of


def is_named_after(title: str, name: str) -> bool:
    """Tell whether a document is called by its file's name: then a new name is a new text to search for."""
    return title in (name, PurePath(name).stem)


def document_job(kind: str, document: Document, version: str) -> Job:
    """Return a job of one document's version."""
    payload = {"document_id": str(document.id), "corpus_id": str(document.corpus_id)}
    return Job(kind, document.tenant_id, f"{document.id}@{version}", payload)


def documents_of(job: Job) -> list[DocumentId]:
    """Return which documents a job is about: one, or many where the work is the same for hundreds."""
    if "document_id" in job.payload:
        return [DocumentId(job.payload["document_id"])]
    return [DocumentId(document) for document in json.loads(job.payload["document_ids"])]


def _jobs(kind: str, of: Document, documents: Sequence[DocumentId], version: str) -> list[Job]:
    """Return jobs for documents of one corpus, hundreds each."""
    place = {"corpus_id": str(of.corpus_id)}
    return [
        Job(
            kind,
            of.tenant_id,
            f"{part[0]}+{len(part) - 1}@{version}",
            {"document_ids": json.dumps(list(map(str, part))), **place},
        )
        for part in _parts(documents)
    ]


def _parts(items: Iterable[T]) -> Iterator[list[T]]:
    rest = iter(items)
    while part := list(islice(rest, AT_ONCE)):
        yield part
