"""What administrators of events send: an address with types, or which dead deliveries to try again."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

MAX_KEYS = 100
EventType = Annotated[str, StringConstraints(min_length=1, max_length=64)]
EventKey = Annotated[str, StringConstraints(min_length=1, max_length=64, pattern=r"^[0-9a-f]+$")]


class SubscriptionBody(BaseModel):
    """An endpoint outside, and what it wants to hear of."""

    model_config = ConfigDict(extra="forbid", strict=True)
    url: str = Field(max_length=500, description="A public https address.")
    types: list[EventType] = Field(
        min_length=1, max_length=16, description="Names of events, like `ToolFailed`."
    )


class RedriveBody(BaseModel):
    """Which events to try again."""

    model_config = ConfigDict(extra="forbid", strict=True)
    events: list[EventKey] = Field(
        default=[], max_length=MAX_KEYS, description="Their ids; none of them means every dead one."
    )
