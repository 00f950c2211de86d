"""One assistant's identity: versions that are never edited, and a pointer to the elected one."""

from dataclasses import dataclass
from datetime import datetime

from cogni_domain.governance.output_policy import OutputPolicy
from cogni_engine import RunBounds
from cogni_kernel import CorpusId, ModelFacingText, PrincipalId, TenantId

DEFAULT_PROFILE = "default"


@dataclass(frozen=True, slots=True)
class ProfileContent:
    """What a version says.

    Attributes:
        instructions: The tenant's own words to the model; never localised.
        corpora: Where the assistant looks.
        grounded: Retrieve for the question before the first model call, and refuse without passages.
        bounds: The ceilings of one turn.
        passages: How many passages a question gets.
        output: What of an answer may be shown.
    """

    instructions: ModelFacingText
    corpora: tuple[CorpusId, ...]
    grounded: bool = True
    bounds: RunBounds = RunBounds()  # noqa: RUF009 - a frozen value
    passages: int = 8
    output: OutputPolicy = OutputPolicy()  # noqa: RUF009 - a frozen value


@dataclass(frozen=True, slots=True)
class ProfileVersion:
    """One version, append-only; `number` counts from 1 within its profile."""

    profile_id: str
    tenant_id: TenantId
    number: int
    content: ProfileContent
    created_by: PrincipalId
    created_at: datetime

    @property
    def ref(self) -> str:
        """How a run record names it: `default@3`."""
        return f"{self.profile_id}@{self.number}"


@dataclass(frozen=True, slots=True)
class AssistantProfile:
    """The configurable identity of one assistant, and which version is elected.

    Source:
        COGNI.BUILD spec, package domain, "AssistantProfile".
    """

    id: str
    tenant_id: TenantId
    name: str
    elected: ProfileVersion
