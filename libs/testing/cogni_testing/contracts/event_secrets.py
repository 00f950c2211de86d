"""What every `EventSecretsPort` promises."""

from abc import ABC, abstractmethod

import pytest

from cogni_domain.ports.event_secrets import EventSecretsPort
from cogni_kernel import UpstreamError
from cogni_testing.assertions import err, ok

SECRET = "whsec_c2VjcmV0IHNlY3JldCBzZWNyZXQgc2VjcmV0IHM="  # noqa: S105 - a secret of tests alone


class EventSecretsContract(ABC):
    """What is sealed opens for its owner, and for nobody else."""

    @abstractmethod
    def make_secrets(self) -> EventSecretsPort:
        """Return secrets under one and the same key."""

    @abstractmethod
    def make_strangers_secrets(self) -> EventSecretsPort:
        """Return secrets under another key."""

    def test_what_is_sealed_opens(self) -> None:
        sealed = self.make_secrets().seal(SECRET, "s1")

        assert ok(self.make_secrets().open(sealed, "s1")) == SECRET

    def test_it_is_never_sealed_twice_the_same(self) -> None:
        secrets = self.make_secrets()

        assert secrets.seal(SECRET, "s1") != secrets.seal(SECRET, "s1")

    def test_nothing_of_it_shows(self) -> None:
        assert SECRET[6:20] not in self.make_secrets().seal(SECRET, "s1")

    def test_it_opens_for_its_owner_alone(self) -> None:
        secrets = self.make_secrets()

        err(secrets.open(secrets.seal(SECRET, "s1"), "s2"), UpstreamError)

    def test_it_opens_with_its_key_alone(self) -> None:
        sealed = self.make_secrets().seal(SECRET, "s1")

        err(self.make_strangers_secrets().open(sealed, "s1"), UpstreamError)

    @pytest.mark.parametrize("broken", ["", "?", "AAAA", "A" * 60])
    def test_what_was_changed_does_not_open(self, broken: str) -> None:
        err(self.make_secrets().open(broken, "s1"), UpstreamError)
