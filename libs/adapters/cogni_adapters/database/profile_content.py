"""What a profile's version says, as JSON and back."""

from datetime import datetime, timedelta
from typing import Any

from cogni_domain.governance.profiles import ProfileContent
from cogni_engine import RunBounds
from cogni_kernel import CorpusId, ModelFacingText, TokenCount


def content_payload(content: ProfileContent) -> dict[str, object]:
    """Return the content as JSON values; the wall clock in microseconds, so that nothing is rounded."""
    bounds = content.bounds
    return {
        "instructions": content.instructions.value,
        "corpora": [corpus.value for corpus in content.corpora],
        "grounded": content.grounded,
        "passages": content.passages,
        "bounds": {
            "max_tool_calls": bounds.max_tool_calls,
            "max_context": bounds.max_context,
            "max_wall_clock_us": bounds.max_wall_clock // timedelta(microseconds=1),
            "deadline": None if bounds.deadline is None else bounds.deadline.isoformat(),
        },
    }


def content_of(payload: dict[str, Any]) -> ProfileContent:
    """Read back what `content_payload` wrote."""
    bounds = payload["bounds"]
    deadline = bounds["deadline"]
    return ProfileContent(
        instructions=ModelFacingText(payload["instructions"]),
        corpora=tuple(map(CorpusId, payload["corpora"])),
        grounded=payload["grounded"],
        passages=payload["passages"],
        bounds=RunBounds(
            max_tool_calls=bounds["max_tool_calls"],
            max_context=TokenCount(bounds["max_context"]),
            max_wall_clock=timedelta(microseconds=bounds["max_wall_clock_us"]),
            deadline=None if deadline is None else datetime.fromisoformat(deadline),
        ),
    )
