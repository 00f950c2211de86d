from dataclasses import replace
from datetime import timedelta

import pytest

from cogni_domain.subscriptions import EVENT_TYPES, SealedSecrets
from cogni_testing.contracts.event_subscriptions import a_request
from cogni_testing.doubles import START


def test_the_eight_events_can_be_subscribed_to() -> None:
    assert len(EVENT_TYPES) == 8


@pytest.mark.parametrize("types", [frozenset[str](), frozenset({"ToolFailed", "AnswerGiven"})])
def test_a_subscription_names_events_that_there_are(types: frozenset[str]) -> None:
    with pytest.raises(ValueError, match="ToolFailed"):
        replace(a_request(), types=types)


def test_one_secret_signs_where_there_was_none_before() -> None:
    assert SealedSecrets("a").valid_at(START) == ("a",)


def test_two_secrets_sign_until_the_window_closes() -> None:
    secrets = SealedSecrets("b", "a", START)

    assert secrets.valid_at(START - timedelta(seconds=1)) == ("b", "a")
    assert secrets.valid_at(START) == ("b",)


def test_a_secret_is_not_shown_in_what_is_logged() -> None:
    assert "sealed" not in repr(a_request())
