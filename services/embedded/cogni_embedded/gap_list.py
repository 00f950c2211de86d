"""The gap list for who runs the product: what was not indexed of any tenant, and what to do about it."""

from collections.abc import Iterable, Sequence
from itertools import groupby

from cogni_application.attached_files import ATTACHMENTS
from cogni_application.gaps import MOST, CorpusGaps
from cogni_domain.knowledge.source import Gap
from cogni_domain.ports.document_store import DocumentStorePort
from cogni_edge.gaps import corpus_gaps_view
from cogni_embedded.bootstrap import Product
from cogni_kernel import Err, Ok, Result

SHOWN = 20


async def every_gap(product: Product) -> Result[list[CorpusGaps]]:
    """Return the gaps of every corpus; what persons attached to conversations is theirs, and not among them."""
    documents = product.bindings.container.resolve(DocumentStorePort)
    found: list[CorpusGaps] = []
    for tenant in product.demo.intranets:
        corpora = await documents.corpora(tenant)
        if isinstance(corpora, Err):
            return corpora
        for corpus in corpora.value:
            gaps = await documents.gaps(tenant, corpus.id)
            if isinstance(gaps, Err):
                return gaps
            if corpus.id != ATTACHMENTS:
                found.append(CorpusGaps(corpus, gaps.value[:MOST], len(gaps.value)))
    return Ok(found)


def as_json(found: Iterable[CorpusGaps]) -> dict[str, object]:
    """Return what the address of the gap list answers, with the tenant of each corpus."""
    return {
        "corpora": [{"tenant_id": str(c.corpus.tenant_id), **corpus_gaps_view(c)} for c in found]
    }


def lines(found: Iterable[CorpusGaps]) -> list[str]:
    """Return the same for a person: what has one reason together, most frequent first."""
    said: list[str] = []
    for each in found:
        said.append(f"{each.corpus.tenant_id}/{each.corpus.id}: {each.total} on the gap list")
        for alike in _by_reason(each.gaps):
            said.append(f"  {alike[0].reason} ({len(alike)})")
            said += [f"    {gap.name}: {gap.explanation}" for gap in alike[:SHOWN]]
            said += [f"    and {len(alike) - SHOWN} more: --json lists them"] * (len(alike) > SHOWN)
    return said


def _by_reason(gaps: Sequence[Gap]) -> list[list[Gap]]:
    together = groupby(sorted(gaps, key=lambda gap: gap.reason), key=lambda gap: gap.reason)
    return sorted((list(group) for _, group in together), key=len, reverse=True)
