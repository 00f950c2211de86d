"""Deltas as Turbo Streams: a page that runs Turbo shows an answer with no script of ours.

The page has an element with the id `cogni`; whatever the answer needs is put into it. A widget is a hidden element
with its payload, which a script of the page may watch for.
"""

from collections.abc import Mapping
from html import escape

from cogni_domain.ports.run_log import NumberedDelta
from cogni_engine import (
    CitationDelta,
    Delta,
    DoneDelta,
    FailedDelta,
    MarkerDelta,
    PhaseDelta,
    ProposalDelta,
    RunDelta,
    TokenDelta,
)
from cogni_kernel import RunRef
from cogni_surfaces import GENERATED_LABEL, View, disclosed, json_line, said

PAGE = "cogni"


def turbo_stream(run: RunRef, numbered: NumberedDelta, view: View) -> str:
    """Return a delta as `<turbo-stream>` elements, none where a page shows nothing of it.

    What was said is text, never markup; the answer as it was rendered and sanitised takes its place at the end, with
    its sources, its freshness and its label. What is added twice stays there once, words excepted: a reader
    resumes after the last delta that it has.
    """
    place, delta = f"{PAGE}-{run}", numbered.delta
    if isinstance(delta, DoneDelta | FailedDelta):
        answer = disclosed(delta.outcome, view)
        return _action("update", place, str(answer["html"]) + _said_by_us(answer))
    if isinstance(delta, MarkerDelta | ProposalDelta):
        return _action("append", PAGE, _trigger(place, delta))
    return _words(place, delta, view)


def _words(place: str, delta: Delta, view: View) -> str:
    match delta:
        case RunDelta():
            return _action("append", PAGE, _article(place, view))
        case PhaseDelta(detail=detail):
            return _action("update", f"{place}-phase", escape(said(detail, view.language)))
        case TokenDelta(text=text):
            return _action("append", f"{place}-text", escape(text))
        case CitationDelta(handle=handle, label=label, locator=locator):
            named = escape(f"[{handle}] {label}, {locator}")
            return _action(
                "append", f"{place}-sources", f'<li id="{_id(place, handle)}">{named}</li>'
            )
    return ""


def _article(place: str, view: View) -> str:
    label = escape(said(GENERATED_LABEL, view.language))
    return (
        f'<article id="{escape(place)}" dir="auto"><p class="generated">{label}</p>'
        f'<p id="{escape(place)}-phase" role="status"></p>'
        f'<div id="{escape(place)}-text" style="white-space: pre-wrap"></div>'
        f'<ol id="{escape(place)}-sources"></ol></article>'
    )


def _said_by_us(answer: Mapping[str, object]) -> str:
    message = answer.get("message")
    return f'<p role="status">{escape(message)}</p>' if isinstance(message, str) else ""


def _trigger(place: str, delta: MarkerDelta | ProposalDelta) -> str:
    """Return a hidden element that holds data, beside the answer, so that the answer's end does not take it away."""
    if isinstance(delta, MarkerDelta):
        name, kind, data = delta.marker, delta.kind, delta.payload
    else:
        name, kind, data = delta.id, "PROPOSAL", delta.rendering
    return (
        f'<div id="{_id(place, name)}" hidden data-cogni-name="{escape(name)}"'
        f' data-cogni-kind="{escape(kind)}" data-cogni-payload="{escape(json_line(data))}"></div>'
    )


def _id(place: str, name: str) -> str:
    return escape(f"{place}-{''.join(c for c in name if c.isalnum())}")


def _action(action: str, target: str, content: str) -> str:
    return (
        f'<turbo-stream action="{action}" target="{escape(target)}">'
        f"<template>{content}</template></turbo-stream>"
    )
