"""One tool, one class: the unit that an author writes."""

import inspect
from abc import ABC, abstractmethod
from typing import ClassVar, Protocol, TypeVar

from cogni_engine.channel.marker import Marker
from cogni_engine.channel.renderables import PlanPayload, PlanStep, Renderable
from cogni_engine.outcome import Mutation
from cogni_engine.tool.arguments import Arguments, canonical
from cogni_engine.tool.definition import CostBand, Definition, Effect
from cogni_engine.tool.result import ToolResult
from cogni_kernel import DefinitionError, Error, GrantKey, HumanText, ModelFacingText, RunRef

R = TypeVar("R")
E = TypeVar("E", bound=Error)


class InvocationContext(Protocol):
    """All that a tool may touch; the layer above decides what is in it."""

    @property
    def run_ref(self) -> RunRef:
        """The run that calls."""
        ...

    def resource(self, kind: type[R]) -> R:
        """Return what was injected for `kind`, one of the tool's `requires`."""
        ...


class Publisher(Protocol):
    """Where a tool pushes a widget, and where what is too large for a model is kept."""

    async def publish(self, payload: Renderable) -> Marker:
        """Show `payload` on the surface; return its marker."""
        ...

    async def keep(self, payload: Renderable) -> Marker:
        """Keep `payload` without showing it; return its marker."""
        ...


class Base(ABC):
    """Subclass it, declare the four class attributes, write `call`.

    No ambient credentials: a tool constructs no client and reads no environment. What it needs is named in
    `requires` and taken from the context.

    Source:
        COGNI.BUILD spec, package engine, "Tool::Base".
    """

    definition: ClassVar[Definition]
    grant: ClassVar[GrantKey]
    effect: ClassVar[Effect]
    cost_band: ClassVar[CostBand] = CostBand.CHEAP
    requires: ClassVar[tuple[type, ...]] = ()

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if inspect.isabstract(cls):
            return
        for name, kind in (("definition", Definition), ("grant", GrantKey), ("effect", Effect)):
            if not isinstance(getattr(cls, name, None), kind):
                raise DefinitionError(f"{cls.__name__}: declare {name}, a {kind.__name__}")
        if not cls.definition.states_when_not_to_use():
            raise DefinitionError(f"{cls.__name__}: say when NOT to use it (do_not_use)")
        if not inspect.iscoroutinefunction(cls.call):
            raise DefinitionError(f"{cls.__name__}: write `async def call(self, args)`")

    def __init__(self, context: InvocationContext, channel: Publisher | None = None) -> None:
        self.context = context
        self.channel = channel

    @abstractmethod
    async def call(self, args: Arguments) -> ToolResult | Error:
        """Do the work. For a MUTATE tool this runs only after a person accepted.

        Args:
            args: Checked against the definition's parameters.
        """

    async def preview(self, args: Arguments) -> Renderable | Error:
        """Return what a person reads before saying yes; override it to say what will change."""
        steps = tuple(
            PlanStep(p.name, str(args[p.name]))
            for p in self.definition.parameters
            if p.name in args
        )
        return PlanPayload(str(self.definition.does), steps)

    async def propose(self, args: Arguments, call_id: str) -> Mutation | Error:
        """Turn a call of a MUTATE tool into something a person must accept.

        Raises:
            TypeError: `preview` gave nothing that a surface can render.
        """
        rendering = await self.preview(args)
        if isinstance(rendering, Error):
            return rendering
        if not isinstance(rendering, Renderable):
            raise TypeError(f"{type(self).__name__}.preview gave neither a Renderable nor an Error")
        definition = self.definition
        return Mutation(
            str(definition.name), str(definition.version), canonical(args), rendering, call_id
        )

    async def emit(self, payload: Renderable) -> Marker:
        """Push a widget to the surface; the marker is what the model gets.

        Raises:
            RuntimeError: The tool was built without a channel.
        """
        if self.channel is None:
            raise RuntimeError(f"{type(self).__name__} was built without a channel")
        return await self.channel.publish(payload)

    @staticmethod
    def fail(kind: type[E], message: str, model_hint: str | None = None) -> E:
        """Return an error of `kind`: a sentence for the person, and what the model should do next."""
        return kind(HumanText(message), ModelFacingText(model_hint) if model_hint else None)
