"""What a profile's version says, as JSON and back."""

import re
from datetime import datetime, timedelta
from typing import Any

from cogni_domain.governance.output_policy import OutputPolicy, Prohibition, Redaction
from cogni_domain.governance.profiles import ProfileContent
from cogni_engine import RunBounds
from cogni_kernel import CorpusId, HumanText, ModelFacingText, TokenCount


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
        "output": _output_payload(content.output),
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
        output=_output_of(payload["output"]) if "output" in payload else OutputPolicy(),
    )


def _output_payload(policy: OutputPolicy) -> dict[str, object]:
    return {
        "prohibitions": [
            {"id": p.id, "description": p.description.value, "phrases": p.phrases}
            for p in policy.prohibitions
        ],
        "redactions": [
            {"pattern": r.pattern.pattern, "flags": r.pattern.flags, "replacement": r.replacement}
            for r in policy.redactions
        ],
    }


def _output_of(payload: dict[str, Any]) -> OutputPolicy:
    return OutputPolicy(
        tuple(
            Prohibition(p["id"], HumanText(p["description"]), tuple(p["phrases"]))
            for p in payload["prohibitions"]
        ),
        tuple(
            Redaction(re.compile(r["pattern"], r["flags"]), r["replacement"])
            for r in payload["redactions"]
        ),
    )
