"""The record that a person looks at: named by the host, looked up here."""

from dataclasses import dataclass

from cogni_kernel import CorpusId, TenantId


@dataclass(frozen=True, slots=True)
class SubjectRef:
    """Which record: a reference, never its contents.

    A host that hands over a record asserts that the person may see it; one that hands over a reference lets
    the product check.

    Source:
        COGNI.BUILD spec, package surfaces, "SubjectRef".
    """

    kind: str
    id: str
    tenant_id: TenantId


@dataclass(frozen=True, slots=True)
class SubjectSource:
    """Where a subject's text is kept as a document: its corpus, the connector that feeds it, and its id there."""

    corpus_id: CorpusId
    connector_id: str
    source_id: str


@dataclass(frozen=True, slots=True)
class Subject:
    """A record as one person may see it.

    Attributes:
        title: What a person calls it.
        text: What it says, for the model, as content; empty where `source` has it.
        source: Its document, which is then read by passages that can be cited; None for a record that is none.
    """

    ref: SubjectRef
    title: str
    text: str = ""
    source: SubjectSource | None = None


@dataclass(frozen=True, slots=True)
class VisibleContext:
    """What the assistant can see beside the conversation, shown to the person, who may take it away.

    Source:
        COGNI.BUILD spec, package surfaces, "VisibleContext".
    """

    items: tuple[Subject, ...]
    removable: bool = True
