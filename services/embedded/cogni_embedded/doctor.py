"""What is bound, reachable and missing, and what to do about it."""

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import httpx2

from cogni_domain.knowledge.corpus import Corpus, IndexId
from cogni_domain.ports.document_store import DocumentStorePort
from cogni_domain.ports.embedder import EmbedderPort
from cogni_domain.ports.keyword_search import KeywordSearchPort
from cogni_domain.ports.model import ModelPort
from cogni_domain.ports.vector_store import VectorStorePort
from cogni_embedded.bootstrap import Product, build
from cogni_embedded.data_folder import DataFolder
from cogni_embedded.ingesting import gap_line
from cogni_engine import HealthState
from cogni_kernel import CorpusId, DefinitionError, Err, TenantId
from cogni_runtime.bindings import embedded, has_database
from cogni_runtime.container import Container
from cogni_runtime.model_choice import chosen_routes, in_words

ENOUGH_BYTES = 500 * 2**20
SHOWN_GAPS = 5
MIGRATE = "Run: cogni migrate, with the same --data."


@dataclass(frozen=True, slots=True)
class Finding:
    """One part, how it is, and what to do where it is not well."""

    part: str
    is_well: bool
    found: str
    advice: Sequence[str] = ()

    def line(self) -> str:
        """Return it in one line."""
        return f"{self.part}: {self.found}"


def problem(part: str, found: str, *advice: str) -> Finding:
    """Return a finding that is not well."""
    return Finding(part, is_well=False, found=found, advice=advice)


async def examine(folder: DataFolder, environment: Mapping[str, str]) -> list[Finding]:
    """Look at everything; changes nothing."""
    if not folder.path.is_dir():
        return [problem("data folder", f"{folder.path} is not there", MIGRATE)]
    findings = [_disk(folder), await _server(folder)]
    if not has_database(folder.path):
        return [*findings, problem("database", "there is none yet", MIGRATE)]
    try:
        product = build(embedded(folder.path, environment))
    except DefinitionError as error:
        return [*findings, problem("bindings", str(error))]
    findings += await _parts(product, environment)
    await product.bindings.close()
    return findings


async def _parts(product: Product, environment: Mapping[str, str]) -> list[Finding]:
    container = product.bindings.container
    bound = ", ".join(f"{port} by {adapter}" for port, adapter in container.names())
    schema = await product.bindings.refuse_other_schema()
    if isinstance(schema, Err):
        return [problem("database", str(schema.error.message))]
    return [
        Finding("bindings", is_well=True, found=bound),
        Finding("database", is_well=True, found="at this version's schema"),
        _model(container.resolve(ModelPort), environment),
        await _embedder(container.resolve(EmbedderPort)),
        await _search(container),
        *await _corpora(product),
    ]


def _model(model: ModelPort, environment: Mapping[str, str]) -> Finding:
    state = model.health()
    routes = chosen_routes(environment)
    found = model.model_version if routes is None else in_words(routes)
    is_well = state is not HealthState.DOWN
    advice = () if is_well else ("Look at the provider, or unset its key to use the local reader.",)
    return Finding("language model", is_well, f"{found}, {state.value}", advice)


async def _embedder(embedder: EmbedderPort) -> Finding:
    tried = await embedder.embed(["Is this working?"])
    if isinstance(tried, Err):
        return problem("embedder", str(tried.error.message), "Run: make install.")
    return Finding("embedder", is_well=True, found=embedder.version)


async def _search(container: Container) -> Finding:
    """Ask both stores for something that nobody has."""
    nowhere = IndexId(TenantId("doctor"), CorpusId("doctor"))
    for store in (container.resolve(VectorStorePort), container.resolve(KeywordSearchPort)):
        name = type(store).__name__
        if isinstance(await store.delete(nowhere, []), Err):
            return problem("search", f"{name} does not answer", "Look at its server and address.")
    return Finding("search", is_well=True, found="both stores answer")


async def _corpora(product: Product) -> list[Finding]:
    documents = product.bindings.container.resolve(DocumentStorePort)
    findings = []
    for tenant in product.demo.intranets:
        corpora = await documents.corpora(tenant)
        if isinstance(corpora, Err):
            return [problem("corpora", str(corpora.error.message))]
        findings += [await _corpus(documents, corpus) for corpus in corpora.value]
    return findings


async def _corpus(documents: DocumentStorePort, corpus: Corpus) -> Finding:
    found = await documents.gaps(corpus.tenant_id, corpus.id)
    gaps = [] if isinstance(found, Err) else found.value
    through = corpus.indexed_through
    read = f"read up to {through:%Y-%m-%d %H:%M} UTC" if through else "not read to its end yet"
    advice = [] if through else ["It is read while the product runs: cogni run."]
    advice += map(gap_line, gaps[:SHOWN_GAPS])
    part = f"corpus {corpus.tenant_id}/{corpus.id}"
    return Finding(part, through is not None, f"{read}, {len(gaps)} on the gap list", advice)


def _disk(folder: DataFolder) -> Finding:
    free = shutil.disk_usage(folder.path).free
    is_well = free > ENOUGH_BYTES
    advice = () if is_well else ("Free some space: writing stops when the disk is full.",)
    return Finding("disk", is_well, f"{free // 2**20} MiB free at {folder.path}", advice)


async def _server(folder: DataFolder) -> Finding:
    holder = folder.holder()
    if holder is None:
        return Finding("server", is_well=True, found="none runs on this folder")
    try:
        async with httpx2.AsyncClient(timeout=5, trust_env=False) as client:
            answer = await client.get(f"{holder.url}/readyz")
    except httpx2.HTTPError:
        found = f"{holder.url} (process {holder.pid}) does not answer"
        return problem("server", found, "Start it again: cogni run.")
    return Finding("server", is_well=True, found=f"{holder.url} answers {answer.status_code}")
