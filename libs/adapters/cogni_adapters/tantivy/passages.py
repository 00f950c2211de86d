"""The fields of a passage in an index."""

from collections.abc import Iterable, Mapping, Sequence

import tantivy

from cogni_adapters.tantivy.scoring import written
from cogni_domain.knowledge.corpus import Chunk
from cogni_domain.knowledge.keyword_scores import tie
from cogni_kernel import ChunkId

_STORED = ("chunk", "document", "tenant", "corpus", "readers", "terms")
"""Everything, so that other readers can be given to a passage without its text."""

Stored = Mapping[str, Sequence[str]]


def schema() -> tantivy.Schema:
    """Return the fields: labels as raw tokens, terms as words, and a number that parts equal scores."""
    builder = tantivy.SchemaBuilder()
    for name in _STORED:
        tokens = "whitespace" if name == "terms" else "raw"
        builder.add_text_field(name, stored=True, tokenizer_name=tokens, index_option="basic")
    builder.add_text_field("only_reader", tokenizer_name="raw", index_option="basic")
    builder.add_unsigned_field("tie", fast=True)
    return builder.build()


def stored(chunk: Chunk, terms: Iterable[str]) -> Stored:
    """Return what is kept of a passage."""
    return {
        "chunk": [str(chunk.id)],
        "document": [str(chunk.document_id)],
        "tenant": [str(chunk.tenant_id)],
        "corpus": [str(chunk.corpus_id)],
        "readers": sorted(chunk.readers),
        "terms": [written(terms)],
    }


def row(fields: Stored) -> tantivy.Document:
    """Return the passage as it is indexed, with what follows from its fields."""
    document = tantivy.Document()
    for name, values in fields.items():
        for value in values:
            document.add_text(name, value)
    if len(fields["readers"]) == 1:
        document.add_text("only_reader", fields["readers"][0])
    document.add_unsigned("tie", tie(ChunkId(fields["chunk"][0])))
    return document
