"""Which source an ingest job means: the demo company's intranets, and folders that a person named."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from cogni_acme.connector import IntranetConnector
from cogni_acme.intranet import Intranet
from cogni_application.indexing.ingest import IndexingService
from cogni_domain.access.rule import AccessRule
from cogni_domain.jobs import Job
from cogni_domain.ports.connector import ConnectorPort
from cogni_domain.ports.extractor import ExtractorPort
from cogni_embedded.demo import INTRANET, DemoSeed
from cogni_kernel import CorpusId, Err, HumanText, InvalidArgumentError, Result, TenantId
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
        InvalidArgumentError: There is no such folder, or a reader is not a token; says how to write it.
    """
    if not folder.path.exists():
        return _wrong(f"There is no {folder.path}. Name a file or folder that exists.")
    try:
        AccessRule.any_of(*(folder.readers or ("everyone",)))
    except ValueError as error:
        return _wrong(f"{error}. Readers are like everyone, g:directory/hr or u:engineer.")
    corpus = CorpusId(corpus_id(folder.corpus))
    made = await seed.corpus(HOME, corpus, folder.corpus)
    if isinstance(made, Err):
        return made
    return await indexing.request(HOME, corpus, str(folder.path), folder.payload())


def corpus_id(name: str) -> str:
    """Return the id of a corpus by its name: letters, digits and hyphens of any script."""
    return re.sub(r"[^\w]+", "-", name).strip("-").casefold() or "folder"


def _wrong(message: str) -> Err:
    return Err(InvalidArgumentError(HumanText(message)))
