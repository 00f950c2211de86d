"""Which source an ingest job means: the demo company's intranets, and folders that a person named."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from cogni_acme.connector import IntranetConnector
from cogni_acme.intranet import Intranet
from cogni_acme.people import People
from cogni_application.indexing.ingest import IndexingService
from cogni_domain.access.rule import AccessRule
from cogni_domain.access.tokens import EVERYONE, group_token
from cogni_domain.jobs import Job
from cogni_domain.ports.connector import ConnectorPort
from cogni_domain.ports.extractor import ExtractorPort
from cogni_embedded.demo import INTRANET, DemoSeed
from cogni_kernel import CorpusId, Err, HumanText, InvalidArgumentError, Ok, Result, TenantId
from cogni_runtime.bindings import folder_connector

HOME = TenantId("acme")
"""The tenant that folders are read into."""


@dataclass(frozen=True, slots=True)
class FolderSource:
    """A folder to answer from.

    Attributes:
        corpus: The name of the corpus it feeds.
        readers: Reader tokens of who may read all of it; None maps each file's mode.
    """

    path: Path
    corpus: str
    readers: tuple[str, ...] | None = ("everyone",)

    @property
    def corpus_id(self) -> CorpusId:
        """The corpus's id: the letters, digits and hyphens of its name, of any script."""
        return CorpusId(re.sub(r"[^\w]+", "-", self.corpus).strip("-").casefold() or "folder")

    def payload(self) -> dict[str, str]:
        """Return what an ingest job keeps of it."""
        readers = "" if self.readers is None else ",".join(self.readers)
        return {"source": "folder", "path": str(self.path), "readers": readers}


@dataclass(frozen=True, slots=True)
class Sources:
    """Connects what ingest jobs name, in whatever process they run."""

    intranets: Mapping[TenantId, Intranet]
    extractor: ExtractorPort

    def connector_of(self, job: Job) -> ConnectorPort | None:
        """Return the connector of a job, None where its source is gone."""
        if job.payload["source"] == "intranet":
            intranet = self.intranets.get(job.tenant_id)
            return None if intranet is None else IntranetConnector(intranet, self.extractor)
        path = Path(job.payload["path"])
        if not path.exists():
            return None
        readers = job.payload["readers"]
        rule = AccessRule.any_of(*readers.split(",")) if readers else None
        return folder_connector(path, rule, self.extractor)


async def request_intranet(indexing: IndexingService, tenant: TenantId) -> Result[bool]:
    """Ask for an ingest of a demo tenant's intranet."""
    return await indexing.request(tenant, INTRANET, "intranet", {"source": "intranet"})


async def request_folder(
    indexing: IndexingService, seed: DemoSeed, folder: FolderSource
) -> Result[bool]:
    """Ask for an ingest of a folder, into a corpus that is made where it is not there yet.

    Errors:
        InvalidArgumentError: There is no such folder, or the corpus has no name.
    """
    if not folder.path.exists():
        return _wrong(f"There is no {folder.path}. Name a file or folder that exists.")
    if HumanText(folder.corpus).is_blank():
        return _wrong("A corpus needs a name.")
    made = await seed.corpus(HOME, folder.corpus_id, folder.corpus)
    if isinstance(made, Err):
        return made
    return await indexing.request(HOME, folder.corpus_id, str(folder.path), folder.payload())


def reader_tokens(people: People, named: str) -> Result[tuple[str, ...]]:
    """Return the reader tokens that a person named, `g:engineering,u:support`; a group's authority is filled in.

    Errors:
        InvalidArgumentError: Nobody is named, or somebody whom the company does not know; says who there is.
    """
    tokens = tuple(token.strip() for token in named.split(",") if token.strip())
    groups = people.company(str(HOME)).groups
    persons = {str(p.account.id) for p in people.people if p.account.tenant_id == HOME}
    found: list[str] = []
    for token in tokens:
        kind, _, name = token.partition(":")
        qualified = [g for g in groups if name in (g, g.partition("/")[2])]
        if kind == "g" and len(qualified) == 1:
            found.append(group_token(qualified[0]))
        elif token == EVERYONE or kind == "a" or (kind == "u" and name in persons):
            found.append(token)
        else:
            return _wrong(f"There is no reader {token}. {_readers(groups, persons)}")
    return Ok(tuple(found)) if found else _wrong(f"Name a reader. {_readers(groups, persons)}")


def _readers(groups: Iterable[str], persons: Iterable[str]) -> str:
    everybody = ["everyone", *(f"g:{g}" for g in groups), *(f"u:{p}" for p in sorted(persons))]
    return f"There are {', '.join(everybody)}."


def _wrong(message: str) -> Err:
    return Err(InvalidArgumentError(HumanText(message)))
