"""What every `DocumentStorePort` promises."""

from cogni_testing.contracts.attached_documents import AttachedDocumentsContract
from cogni_testing.contracts.document_moves import DocumentMovesContract
from cogni_testing.contracts.document_reads import DocumentReadsContract
from cogni_testing.contracts.document_writes import DocumentWritesContract


class DocumentStoreContract(
    DocumentWritesContract,
    DocumentMovesContract,
    AttachedDocumentsContract,
    DocumentReadsContract,
):
    """Documents as they stand now: writes with their jobs, and reads with the predicate inside."""
