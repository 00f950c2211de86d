import pytest

from cogni_adapters.webhook.sealing import AesGcmSecretsAdapter
from cogni_domain.ports.event_secrets import EventSecretsPort
from cogni_testing.contracts.event_secrets import EventSecretsContract


class TestAesGcmSecrets(EventSecretsContract):
    def make_secrets(self) -> EventSecretsPort:
        return AesGcmSecretsAdapter(b"k" * 32)

    def make_strangers_secrets(self) -> EventSecretsPort:
        return AesGcmSecretsAdapter(b"x" * 32)


def test_a_key_of_another_length_is_refused() -> None:
    with pytest.raises(ValueError, match="32 bytes"):
        AesGcmSecretsAdapter(b"short")
