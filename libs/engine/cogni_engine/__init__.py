"""The model and tool execution engine. Knows nothing of tenants, permissions, profiles or surfaces.

Import from here: `from cogni_engine import Assistant, Base, describe`.
"""

from cogni_engine.assistant import (
    Assistant,
)
from cogni_engine.bounds import (
    Clock,
    HaltReason,
    RunBounds,
    RunState,
)
from cogni_engine.channel.broadcaster import (
    Broadcaster,
    NullBroadcaster,
)
from cogni_engine.channel.envelope import (
    ChannelKey,
    Delivered,
    DeliveryFailed,
    DeliveryOutcome,
    Envelope,
    NoListener,
)
from cogni_engine.channel.marker import (
    Marker,
    MarkerKind,
)
from cogni_engine.channel.reference_store import (
    MAX_PER_BUCKET,
    MemoryReferenceStore,
    Missing,
    ReferenceStore,
)
from cogni_engine.channel.renderables import (
    ChartPayload,
    HighlightPayload,
    ImagePayload,
    Moment,
    PlanPayload,
    PlanStep,
    Renderable,
    ReportPayload,
    Section,
    Series,
    TablePayload,
    TimelinePayload,
)
from cogni_engine.messages import (
    AttachmentPart,
    ContentKind,
    ImagePart,
    Message,
    Origin,
    Part,
    PassagePart,
    Role,
    TextPart,
    ToolCall,
)
from cogni_engine.model import (
    HealthState,
    Model,
    Response,
    ResponseKind,
)
from cogni_engine.outcome import (
    Completed,
    Failed,
    Halted,
    Mutation,
    Proposed,
    RefusalReason,
    Refused,
    RunOutcome,
)
from cogni_engine.retry import (
    RetryPolicy,
)
from cogni_engine.run_loop import (
    RunLoop,
)
from cogni_engine.steps import (
    BroadcastStep,
    EngineStep,
    ModelCallStep,
    RefusalStep,
    ToolCallStep,
)
from cogni_engine.streaming.chunk_parser import (
    ChunkParser,
)
from cogni_engine.streaming.deltas import (
    CitationDelta,
    Delta,
    DoneDelta,
    FailedDelta,
    MarkerDelta,
    PhaseDelta,
    ProposalDelta,
    RunDelta,
    TokenDelta,
    ToolCompletedDelta,
    from_payload,
    is_terminal,
    to_payload,
)
from cogni_engine.streaming.emitter import (
    Emitter,
)
from cogni_engine.streaming.phases import (
    Phase,
)
from cogni_engine.thread import (
    Thread,
)
from cogni_engine.tool.arguments import (
    Arguments,
    canonical,
    parse_arguments,
)
from cogni_engine.tool.base import (
    Base,
    InvocationContext,
    Publisher,
)
from cogni_engine.tool.definition import (
    CostBand,
    Definition,
    Echo,
    EchoForm,
    Effect,
    describe,
)
from cogni_engine.tool.echo import (
    bound_for_model,
    echo_of,
    ui_preview,
)
from cogni_engine.tool.parameter import (
    Parameter,
    ParameterType,
    Vocabulary,
)
from cogni_engine.tool.registry import (
    OfferedTool,
    Registry,
    RegistrySnapshot,
)
from cogni_engine.tool.result import (
    CitationRef,
    ToolResult,
)

__all__ = [
    "MAX_PER_BUCKET",
    "Arguments",
    "Assistant",
    "AttachmentPart",
    "Base",
    "BroadcastStep",
    "Broadcaster",
    "ChannelKey",
    "ChartPayload",
    "ChunkParser",
    "CitationDelta",
    "CitationRef",
    "Clock",
    "Completed",
    "ContentKind",
    "CostBand",
    "Definition",
    "Delivered",
    "DeliveryFailed",
    "DeliveryOutcome",
    "Delta",
    "DoneDelta",
    "Echo",
    "EchoForm",
    "Effect",
    "Emitter",
    "EngineStep",
    "Envelope",
    "Failed",
    "FailedDelta",
    "HaltReason",
    "Halted",
    "HealthState",
    "HighlightPayload",
    "ImagePart",
    "ImagePayload",
    "InvocationContext",
    "Marker",
    "MarkerDelta",
    "MarkerKind",
    "MemoryReferenceStore",
    "Message",
    "Missing",
    "Model",
    "ModelCallStep",
    "Moment",
    "Mutation",
    "NoListener",
    "NullBroadcaster",
    "OfferedTool",
    "Origin",
    "Parameter",
    "ParameterType",
    "Part",
    "PassagePart",
    "Phase",
    "PhaseDelta",
    "PlanPayload",
    "PlanStep",
    "ProposalDelta",
    "Proposed",
    "Publisher",
    "ReferenceStore",
    "RefusalReason",
    "RefusalStep",
    "Refused",
    "Registry",
    "RegistrySnapshot",
    "Renderable",
    "ReportPayload",
    "Response",
    "ResponseKind",
    "RetryPolicy",
    "Role",
    "RunBounds",
    "RunDelta",
    "RunLoop",
    "RunOutcome",
    "RunState",
    "Section",
    "Series",
    "TablePayload",
    "TextPart",
    "Thread",
    "TimelinePayload",
    "TokenDelta",
    "ToolCall",
    "ToolCallStep",
    "ToolCompletedDelta",
    "ToolResult",
    "Vocabulary",
    "bound_for_model",
    "canonical",
    "describe",
    "echo_of",
    "from_payload",
    "is_terminal",
    "parse_arguments",
    "to_payload",
    "ui_preview",
]
