"""How a provider has been lately."""

import pytest

from cogni_domain.providers.health import RecentCalls
from cogni_engine import HealthState


@pytest.mark.parametrize(
    ("calls", "state"),
    [
        ("", HealthState.HEALTHY),
        ("+++", HealthState.HEALTHY),
        ("-", HealthState.DEGRADED),
        ("--", HealthState.DEGRADED),
        ("---", HealthState.DOWN),
        ("+---", HealthState.DOWN),
        ("---+", HealthState.DEGRADED),
        ("-" + "+" * 9, HealthState.DEGRADED),
        ("-" + "+" * 10, HealthState.HEALTHY),
    ],
)
def test_health_is_what_the_last_calls_say(calls: str, state: HealthState) -> None:
    recent = RecentCalls()
    for call in calls:
        recent.note(went_well=call == "+")

    assert recent.health() is state
