"""Which source an ingest job means: the demo company's intranets, and folders that a person named."""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cogni_acme.connector import IntranetConnector
from cogni_acme.intranet import Intranet
from cogni_acme.people import People
from cogni_application.indexing.ingest import INGEST, IndexingService
from cogni_application.lanes import Handler
from cogni_domain.access.rule import AccessRule
from cogni_domain.access.tokens import EVERYONE, group_token
from cogni_domain.jobs import Job, LeasedJob
from cogni_domain.ports.connector import ConnectorPort
from cogni_domain.ports.extractor import ExtractorPort
from cogni_embedded.demo import INTRANET, DemoSeed
from cogni_kernel import CorpusId, Err, HumanText, InvalidArgumentError, Ok, Result, TenantId
from cogni_runtime.bindings import folder_connector, folder_identity

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


class KnownFolders:
    """The folders that were read to their end, in a file of the data folder, which this process holds.

    Args:
        file: Where they are kept; None forgets them with the process.
    """

    def __init__(self, file: Path | None) -> None:
        self._file = file
        self._known: dict[str, dict[str, str]] = {}
        if file is not None and file.exists():
            self._known = _folders_in(file)

    def jobs(self) -> list[Job]:
        """Return what reads each of them again."""
        return [_folder_job(key, entry) for key, entry in self._known.items()]

    def root_of(self, job: Job) -> str | None:
        """Return what told the folder from others when it was read; None where it never was."""
        entry = self._known.get(job.key)
        return None if entry is None else entry["root"]

    def keep(self, job: Job, root: str) -> None:
        """Remember a folder that was read."""
        entry = {**job.payload, "tenant_id": str(job.tenant_id), "root": root}
        if self._known.get(job.key) == entry:
            return
        self._known[job.key] = entry
        if self._file is not None:
            beside = self._file.with_suffix(".new")
            beside.write_text(json.dumps(self._known, indent=1))
            beside.replace(self._file)


def _folders_in(file: Path) -> dict[str, dict[str, str]]:
    """Return what the file says; what cannot be read is known no more, and read again when it is named again."""
    try:
        found = json.loads(file.read_text())
        return {key: entry for key, entry in found.items() if entry.keys() >= _FOLDER_FIELDS}
    except (OSError, ValueError, AttributeError):
        return {}


_FOLDER_FIELDS = {"source", "path", "readers", "corpus_id", "tenant_id", "root"}


def _folder_job(key: str, entry: Mapping[str, str]) -> Job:
    payload = {n: v for n, v in entry.items() if n not in ("tenant_id", "root")}
    return Job(INGEST, TenantId(entry["tenant_id"]), key, payload)


@dataclass
class Sources:
    """Connects what ingest jobs name, in whatever process they run.

    Attributes:
        on_reading: Told of every ingest before it begins.
    """

    intranets: Mapping[TenantId, Intranet]
    extractor: ExtractorPort
    folders: KnownFolders
    on_reading: Callable[[Job], None] = lambda _: None

    def connector_of(self, job: Job) -> ConnectorPort | None:
        """Return the connector of a job, None where its source is gone."""
        if job.payload["source"] != "intranet" and not Path(job.payload["path"]).exists():
            return None
        return self.connector_to(job)

    def connector_to(self, job: Job) -> ConnectorPort | None:
        """Return the same for a folder, even while it is not there."""
        if job.payload["source"] == "intranet":
            intranet = self.intranets.get(job.tenant_id)
            return None if intranet is None else IntranetConnector(intranet, self.extractor)
        readers = job.payload["readers"]
        rule = AccessRule.any_of(*readers.split(",")) if readers else None
        root = self.folders.root_of(job)
        return folder_connector(Path(job.payload["path"]), rule, self.extractor, root)

    def remembered(self) -> list[Job]:
        """Return what reads each folder again that was read before."""
        return self.folders.jobs()

    def reading(self, ingest: Handler) -> Handler:
        """Return the handler of ingests, which tells of each, and remembers the folders that were read."""

        async def read(jobs: Sequence[LeasedJob]) -> Sequence[Result[None]]:
            roots = [folder_identity(Path(leased.job.payload.get("path", ""))) for leased in jobs]
            for leased in jobs:
                self.on_reading(leased.job)
            results = await ingest(jobs)
            for leased, root, result in zip(jobs, roots, results, strict=True):
                if isinstance(result, Ok) and root and leased.job.payload["source"] == "folder":
                    self.folders.keep(leased.job, root)
            return results

        return read


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
