"""What is bound, reachable and missing, and what to do about it."""

import shutil
from collections.abc import Mapping
from dataclasses import dataclass

import httpx2

from cogni_domain.ports.document_store import DocumentStorePort
from cogni_domain.ports.embedder import EmbedderPort
from cogni_domain.ports.model import ModelPort
from cogni_embedded.bootstrap import Product, build
from cogni_embedded.data_folder import DataFolder
from cogni_engine import HealthState
from cogni_kernel import DefinitionError, Err

ENOUGH_BYTES = 500 * 2**20


@dataclass(frozen=True, slots=True)
class Finding:
    """One part, how it is, and what to do where it is not well."""

    part: str
    is_well: bool
    found: str
    advice: str = ""


async def examine(folder: DataFolder, environment: Mapping[str, str]) -> list[Finding]:
    """Look at everything; changes nothing."""
    if not folder.path.exists():
        advice = "Run: make run, or cogni migrate."
        return [
            Finding(
                "data folder", is_well=False, found=f"{folder.path} is not there", advice=advice
            )
        ]
    findings = [_disk(folder), await _server(folder)]
    try:
        product = build(folder.path, environment)
    except DefinitionError as error:
        return [*findings, Finding("bindings", is_well=False, found=str(error))]
    findings += await _parts(product)
    await product.bindings.close()
    return findings


async def _parts(product: Product) -> list[Finding]:
    schema = await product.bindings.refuse_other_schema()
    if isinstance(schema, Err):
        return [Finding("database", is_well=False, found=str(schema.error.message))]
    container = product.bindings.container
    model = container.resolve(ModelPort)
    state = model.health()
    return [
        Finding("database", is_well=True, found="at this version's schema"),
        Finding(
            "language model", state is not HealthState.DOWN, f"{model.model_version}, {state.value}"
        ),
        await _embedder(container.resolve(EmbedderPort)),
        *await _corpora(product),
    ]


async def _embedder(embedder: EmbedderPort) -> Finding:
    tried = await embedder.embed(["Is this working?"])
    if isinstance(tried, Err):
        return Finding(
            "embedder", is_well=False, found=str(tried.error.message), advice="Run: make install."
        )
    return Finding("embedder", is_well=True, found=embedder.version)


async def _corpora(product: Product) -> list[Finding]:
    documents = product.bindings.container.resolve(DocumentStorePort)
    findings = []
    for tenant in product.demo.intranets:
        corpora = await documents.corpora(tenant)
        for corpus in [] if isinstance(corpora, Err) else corpora.value:
            gaps = await documents.gaps(tenant, corpus.id)
            missing = 0 if isinstance(gaps, Err) else len(gaps.value)
            through = corpus.indexed_through
            found = (
                f"read up to {through:%Y-%m-%d %H:%M} UTC" if through else "not read to its end yet"
            )
            advice = "" if through else "It is read while the product runs: make run."
            name = f"corpus {tenant}/{corpus.id}"
            findings.append(
                Finding(name, through is not None, f"{found}, {missing} on the gap list", advice)
            )
    return findings


def _disk(folder: DataFolder) -> Finding:
    free = shutil.disk_usage(folder.path).free
    advice = "" if free > ENOUGH_BYTES else "Free some space: writing stops when the disk is full."
    return Finding(
        "disk", free > ENOUGH_BYTES, f"{free // 2**20} MiB free at {folder.path}", advice
    )


async def _server(folder: DataFolder) -> Finding:
    holder = folder.holder()
    if holder is None:
        return Finding("server", is_well=True, found="none runs on this folder")
    try:
        async with httpx2.AsyncClient(timeout=5) as client:
            answer = await client.get(f"{holder.url}/readyz")
        return Finding("server", is_well=True, found=f"{holder.url} answers {answer.status_code}")
    except httpx2.HTTPError:
        found = f"{holder.url} (process {holder.pid}) does not answer"
        return Finding("server", is_well=False, found=found, advice="Start it again: make run.")
