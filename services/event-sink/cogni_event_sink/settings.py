"""What this process is told from outside, checked before anything starts."""

from pathlib import Path
from typing import Annotated, Self

from pydantic import Field, StringConstraints, ValidationError, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

PREFIX = "COGNI_EVENT_SINK_"


class WrongSettingError(ValueError):
    """A setting is missing or cannot be; the message is one line that names it."""


class Settings(BaseSettings):
    """Read from the environment, each under `COGNI_EVENT_SINK_` and its name in capitals."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, frozen=True)

    database_url: Annotated[
        str, StringConstraints(pattern=r"^(sqlite|postgresql(\+psycopg)?)://.+")
    ] = Field(description="Where the other processes write their events.")
    key_file: Path = Field(description="Holds 64 hexadecimal digits, the key of secrets.")
    host: str = Field(default="127.0.0.1", min_length=1)
    port: int = Field(default=8085, ge=0, le=65_535, description="Of health, readiness, metrics.")

    @field_validator("key_file")
    @classmethod
    def _holds_a_key(cls, path: Path) -> Path:
        _read_key(path)
        return path

    @property
    def key(self) -> bytes:
        """The key in the file, 32 bytes."""
        return _read_key(self.key_file)

    @classmethod
    def read(cls) -> Self:
        """Return the settings of this process.

        Raises:
            WrongSettingError: One is missing or cannot be.
        """
        try:
            return cls()  # type: ignore[call-arg]  # from the environment
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            name = PREFIX + "_".join(map(str, first["loc"])).upper()
            raise WrongSettingError(f"{name}: {first['msg']}") from None


def _read_key(path: Path) -> bytes:
    try:
        key = bytes.fromhex(path.read_text().strip())
    except OSError as error:
        raise ValueError(f"{path} cannot be read") from error
    except ValueError as error:
        raise ValueError(f"{path} holds no hexadecimal digits") from error
    if len(key) != 32:
        raise ValueError(f"{path} holds {len(key)} bytes, not 32")
    return key
