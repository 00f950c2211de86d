"""Secrets under AES-256-GCM, with a key that is kept outside the database."""

import base64
import os

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from cogni_domain.ports.event_secrets import EventSecretsPort
from cogni_kernel import Err, HumanText, Ok, Result, UpstreamError

NONCE = 12
CANNOT_OPEN = HumanText("A secret cannot be opened with the key that this process was given.")


class AesGcmSecretsAdapter(EventSecretsPort):
    """What a secret belongs to is bound into it, so that it cannot be moved to another row.

    Args:
        key: 32 bytes.

    Raises:
        ValueError: The key has another length.
    """

    def __init__(self, key: bytes) -> None:
        if len(key) != 32:
            raise ValueError("the key of secrets has 32 bytes")
        self._cipher = AESGCM(key)

    def seal(self, secret: str, owner: str) -> str:
        nonce = os.urandom(NONCE)
        sealed = self._cipher.encrypt(nonce, secret.encode(), owner.encode())
        return base64.b64encode(nonce + sealed).decode()

    def open(self, sealed: str, owner: str) -> Result[str]:
        try:
            raw = base64.b64decode(sealed, validate=True)
            plain = self._cipher.decrypt(raw[:NONCE], raw[NONCE:], owner.encode())
        except (InvalidTag, ValueError):
            return Err(UpstreamError(CANNOT_OPEN, retryable=False))
        return Ok(plain.decode())
