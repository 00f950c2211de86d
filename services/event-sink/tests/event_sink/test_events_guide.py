"""What docs/guides/events.md shows works as it stands, and names what there is."""

import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from standardwebhooks import Webhook, WebhookVerificationError

from cogni_domain.subscriptions import ADMINISTER_EVENTS, EVENT_TYPES

GUIDE = (Path(__file__).parents[4] / "docs/guides/events.md").read_text()
SECRET = "whsec_" + "c2VjcmV0IHNlY3JldCBzZWNyZXQgc2VjcmV0IHM="


def test_the_receiver_verifies_and_drops_repeats() -> None:
    [code] = re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL)
    found: dict[str, Any] = {}
    exec(code, found)
    [body] = re.findall(r"```json\n(.*?)```", GUIDE, re.DOTALL)
    event, now = json.loads(body), datetime.now(UTC)
    headers = {
        "webhook-id": event["id"],
        "webhook-timestamp": str(int(now.timestamp())),
        "webhook-signature": Webhook(SECRET).sign(event["id"], now, body),
    }

    assert found["receive"](body.encode(), headers, SECRET) == event
    assert found["receive"](body.encode(), headers, SECRET) is None
    with pytest.raises(WebhookVerificationError):
        found["receive"](b"{}", headers, SECRET)


def test_every_event_is_described() -> None:
    rows = set(re.findall(r"^\| `(\w+)` \|", GUIDE, re.MULTILINE))

    assert rows == EVENT_TYPES
    assert str(ADMINISTER_EVENTS.key) in GUIDE
