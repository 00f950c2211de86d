from dataclasses import dataclass
from datetime import timedelta

import pytest

from cogni_domain.ports.model import ModelPort
from cogni_embedded.readiness import TRY_EVERY, Admission
from cogni_engine import HealthState
from cogni_kernel import Ok, UpstreamError
from cogni_testing import FrozenClock, RecordedModel, err


@dataclass
class AilingModel(RecordedModel, ModelPort):
    """Is as it is told to be."""

    state: HealthState = HealthState.DOWN

    def health(self) -> HealthState:
        return self.state


@pytest.mark.parametrize("state", [HealthState.HEALTHY, HealthState.DEGRADED])
def test_runs_are_admitted_while_the_model_answers(state: HealthState) -> None:
    assert Admission(AilingModel(state), FrozenClock()).admits() == Ok(None)


def test_while_the_model_is_down_runs_are_refused_and_told_when_to_come_back() -> None:
    clock = FrozenClock()
    admission = Admission(AilingModel(), clock)

    first = err(admission.admits(), UpstreamError)
    clock.advance(timedelta(seconds=4))
    second = err(admission.admits(), UpstreamError)

    assert (first.detail["retry_after_s"], second.detail["retry_after_s"]) == (10, 6)


def test_one_run_now_and_then_shows_whether_it_still_is_down() -> None:
    clock = FrozenClock()
    admission = Admission(AilingModel(), clock)
    err(admission.admits(), UpstreamError)

    clock.advance(TRY_EVERY)

    assert admission.admits() == Ok(None)
    err(admission.admits(), UpstreamError)
    clock.advance(TRY_EVERY)
    assert admission.admits() == Ok(None)


def test_a_model_that_answers_again_admits_everybody() -> None:
    model = AilingModel()
    admission = Admission(model, FrozenClock())
    err(admission.admits(), UpstreamError)

    model.state = HealthState.DEGRADED

    assert [admission.admits() for _ in range(3)] == [Ok(None)] * 3
