"""Primitives every layer may use. Depends on the standard library alone.

Import from here, not from the modules below: `from cogni_kernel import Ok, TenantId`.
"""

from cogni_kernel.errors import (
    BudgetExceededError,
    ConflictError,
    DefinitionError,
    Error,
    ErrorMasker,
    InvalidArgumentError,
    MaskingPolicy,
    NotFoundError,
    NotPermittedError,
    TimeoutError,
    UpstreamError,
)
from cogni_kernel.ids import (
    ChunkId,
    ConversationId,
    CorpusId,
    DocumentId,
    GrantKey,
    Identifier,
    PrincipalId,
    ProposalId,
    RunRef,
    TenantId,
    ToolName,
    VocabularyId,
)
from cogni_kernel.outcome import (
    Outcome,
)
from cogni_kernel.result import (
    Err,
    Ok,
    Result,
)
from cogni_kernel.text import (
    HumanText,
    ModelFacingText,
    Text,
    TokenCount,
    encodable,
    estimate_tokens,
)
from cogni_kernel.usage import (
    AttributedUsage,
    TaskClass,
    Usage,
)
from cogni_kernel.versions import (
    Deprecation,
    SemVer,
    Stability,
    VersionBound,
    VersionRange,
    stability,
)

__all__ = [
    "AttributedUsage",
    "BudgetExceededError",
    "ChunkId",
    "ConflictError",
    "ConversationId",
    "CorpusId",
    "DefinitionError",
    "Deprecation",
    "DocumentId",
    "Err",
    "Error",
    "ErrorMasker",
    "GrantKey",
    "HumanText",
    "Identifier",
    "InvalidArgumentError",
    "MaskingPolicy",
    "ModelFacingText",
    "NotFoundError",
    "NotPermittedError",
    "Ok",
    "Outcome",
    "PrincipalId",
    "ProposalId",
    "Result",
    "RunRef",
    "SemVer",
    "Stability",
    "TaskClass",
    "TenantId",
    "Text",
    "TimeoutError",
    "TokenCount",
    "ToolName",
    "UpstreamError",
    "Usage",
    "VersionBound",
    "VersionRange",
    "VocabularyId",
    "encodable",
    "estimate_tokens",
    "stability",
]
