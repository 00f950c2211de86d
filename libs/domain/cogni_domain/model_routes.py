"""A model with one that stands in for it."""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from cogni_domain.governance.routing import ModelBinding, ResidencyRequirement, RoutingPolicy
from cogni_domain.ports.model import ModelPort
from cogni_engine import Clock, Definition, Emitter, HealthState, Message, Response
from cogni_kernel import Err, Error, Ok, Result, TaskClass

TRY_EVERY = timedelta(seconds=10)
_OF_THE_PROVIDER = frozenset({401, 402, 403, 404, 429})
"""Refusals that say something of an account, not of the request: another provider may take it."""

_log = logging.getLogger(__name__)


class RoutedModel(ModelPort):
    """Asks the first model, and the one that stands in where the first fails before a word was shown.

    While the first one is down, the other is asked at once; now and then the first shows whether it still is. An
    answer names the model that gave it, so a run record tells the two apart.

    Args:
        first: Does the work; the version and the class of work are its own.
        second: Stands in; where it runs was decided before, by a `RoutingPolicy`.
        on_fallback: Is told each time that the second is asked.
    """

    def __init__(
        self,
        first: ModelPort,
        second: ModelPort,
        clock: Clock,
        on_fallback: Callable[[str], None] | None = None,
    ) -> None:
        self._first = first
        self._second = second
        self._clock = clock
        self._on_fallback = on_fallback or _noted
        self._next_try: datetime | None = None

    @property
    def model_version(self) -> str:
        return self._first.model_version

    @property
    def task_class(self) -> TaskClass:
        return self._first.task_class

    def health(self) -> HealthState:
        first, second = self._first.health(), self._second.health()
        if first is HealthState.DOWN:
            return HealthState.DOWN if second is HealthState.DOWN else HealthState.DEGRADED
        return first

    async def complete(
        self, messages: Sequence[Message], tools: Sequence[Definition], emitter: Emitter | None
    ) -> Result[Response]:
        if not self._is_worth_asking():
            return await self._stand_in(messages, tools, emitter)
        shown = len(emitter.text) if emitter is not None else 0
        result = await self._first.complete(messages, tools, emitter)
        if isinstance(result, Ok) or not _may_do_better(result.error):
            return result
        if emitter is not None and len(emitter.text) > shown:
            return result
        second = await self._stand_in(messages, tools, emitter)
        return result if isinstance(second, Err) and not second.error.retryable else second

    async def _stand_in(
        self, messages: Sequence[Message], tools: Sequence[Definition], emitter: Emitter | None
    ) -> Result[Response]:
        self._on_fallback(self._second.model_version)
        return await self._second.complete(messages, tools, emitter)

    def _is_worth_asking(self) -> bool:
        """Tell whether the first one is up, or it is time to see whether it is again."""
        if self._first.health() is not HealthState.DOWN:
            self._next_try = None
            return True
        if self._second.health() is HealthState.DOWN:
            return True
        now = self._clock.now()
        is_time = self._next_try is not None and now >= self._next_try
        if is_time or self._next_try is None:
            self._next_try = now + TRY_EVERY
        return is_time


@dataclass(frozen=True, slots=True)
class ModelRoutes:
    """The models of a deployment, by the bindings that its policy names."""

    policy: RoutingPolicy
    models: Mapping[ModelBinding, ModelPort]
    clock: Clock

    def model_for(
        self, task_class: TaskClass, residency: ResidencyRequirement | None = None
    ) -> Result[ModelPort]:
        """Return the model for a kind of work under one organisation's requirement.

        Errors:
            UpstreamError: There is none that may be asked; it is not retryable.
        """
        policy = self.policy.under(residency or ResidencyRequirement.anywhere())
        binding = policy.binding_for(task_class)
        if isinstance(binding, Err):
            return binding
        first, fallback = self.models[binding.value], policy.fallback_for(task_class)
        return Ok(first if fallback is None else self._with(first, self.models[fallback]))

    def _with(self, first: ModelPort, second: ModelPort) -> ModelPort:
        return RoutedModel(first, second, self.clock)


def _may_do_better(error: Error) -> bool:
    return error.retryable or error.detail.get("status") in _OF_THE_PROVIDER


def _noted(version: str) -> None:
    _log.warning("%s stands in for a model that fails", version)
