"""What a tool may push to a surface: structure, never markup."""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import ClassVar

from cogni_engine.channel.marker import MarkerKind
from cogni_kernel import ModelFacingText

Scalar = str | int | float | bool | None


class Renderable(ABC):
    """A payload that surfaces render; the model only ever sees `summary_for_model`.

    Source:
        COGNI.BUILD spec, package channel, "Renderable".
    """

    __slots__ = ()
    kind: ClassVar[MarkerKind]

    @abstractmethod
    def summary_for_model(self) -> ModelFacingText:
        """Return one line that says what it is, without its data."""

    def to_payload(self) -> dict[str, object]:
        """Return plain JSON values."""
        return {name: _plain(value) for name, value in asdict(self).items()}  # type: ignore[call-overload]


@dataclass(frozen=True, slots=True)
class Series:
    """One named row of figures, as long as its chart's `labels`; None is a gap."""

    name: str
    values: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class ChartPayload(Renderable):
    """Figures over labels. `form` is bar or line; `unit` stands at the axis."""

    kind: ClassVar[MarkerKind] = MarkerKind.CHART
    title: str
    labels: tuple[str, ...]
    series: tuple[Series, ...]
    form: str = "bar"
    unit: str = ""

    def __post_init__(self) -> None:
        if self.form not in ("bar", "line"):
            raise ValueError("a chart's form is bar or line")
        if any(len(s.values) != len(self.labels) for s in self.series):
            raise ValueError("every series has one value a label")
        _refuse_infinite(value for s in self.series for value in s.values)

    def summary_for_model(self) -> ModelFacingText:
        names = ", ".join(s.name for s in self.series)
        return _line(f"A {self.form} chart, {self.title}: {names} by {len(self.labels)} labels.")


@dataclass(frozen=True, slots=True)
class TablePayload(Renderable):
    """Rows under columns; every row is as long as `columns`."""

    kind: ClassVar[MarkerKind] = MarkerKind.TABLE
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Scalar, ...], ...]

    def __post_init__(self) -> None:
        if any(len(row) != len(self.columns) for row in self.rows):
            raise ValueError("every row has one cell a column")
        _refuse_infinite(cell for row in self.rows for cell in row)

    def summary_for_model(self) -> ModelFacingText:
        return _line(f"A table, {self.title}: {len(self.rows)} rows.")


@dataclass(frozen=True, slots=True)
class Moment:
    """One entry of a timeline; `at` is an ISO 8601 date or time."""

    at: str
    title: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class TimelinePayload(Renderable):
    """What happened when, oldest first."""

    kind: ClassVar[MarkerKind] = MarkerKind.TIMELINE
    title: str
    moments: tuple[Moment, ...]

    def summary_for_model(self) -> ModelFacingText:
        return _line(f"A timeline, {self.title}: {len(self.moments)} entries.")


@dataclass(frozen=True, slots=True)
class Section:
    """One part of a report; `body` is Markdown."""

    heading: str
    body: str


@dataclass(frozen=True, slots=True)
class ReportPayload(Renderable):
    """A longer text in sections."""

    kind: ClassVar[MarkerKind] = MarkerKind.REPORT
    title: str
    sections: tuple[Section, ...]

    def summary_for_model(self) -> ModelFacingText:
        return _line(f"A report, {self.title}: {len(self.sections)} sections.")


@dataclass(frozen=True, slots=True)
class PlanStep:
    """One step of a plan."""

    title: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class PlanPayload(Renderable):
    """Steps in order: what would be done, also what a proposal shows before a yes."""

    kind: ClassVar[MarkerKind] = MarkerKind.PLAN
    title: str
    steps: tuple[PlanStep, ...]

    def summary_for_model(self) -> ModelFacingText:
        return _line(f"A plan, {self.title}: {len(self.steps)} steps.")


@dataclass(frozen=True, slots=True)
class HighlightPayload(Renderable):
    """A place in a document to point at, by citation handle, never by its text."""

    kind: ClassVar[MarkerKind] = MarkerKind.HIGHLIGHT
    title: str
    handle: str

    def summary_for_model(self) -> ModelFacingText:
        return _line(f"A highlight, {self.title}.")


@dataclass(frozen=True, slots=True)
class ImagePayload(Renderable):
    """A picture kept in the product's own store, by its reference there."""

    kind: ClassVar[MarkerKind] = MarkerKind.IMAGE
    title: str
    artifact: str
    alternative: str

    def summary_for_model(self) -> ModelFacingText:
        return _line(f"An image, {self.title}.")


def _line(text: str) -> ModelFacingText:
    return ModelFacingText(" ".join(text.split()))


def _plain(value: object) -> object:
    """Return sequences as lists, as JSON gives them back."""
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    return value


def _refuse_infinite(values: Iterable[Scalar]) -> None:
    if any(isinstance(value, float) and not math.isfinite(value) for value in values):
        raise ValueError("a figure is finite; None is a gap")
