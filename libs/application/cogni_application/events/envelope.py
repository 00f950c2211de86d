"""An event as CloudEvents 1.0 in its JSON format: the bytes that every attempt sends."""

from urllib.parse import quote

from cloudevents.core.formats.json import JSONFormat
from cloudevents.core.v1.event import CloudEvent

from cogni_domain.events_outgoing import MAX_BODY, OutgoingEvent
from cogni_kernel import Err, HumanText, InvalidArgumentError, Ok, Result

TYPE_PREFIX = "cogni.api.events.v1."
TOO_LARGE = HumanText(f"The event has more than {MAX_BODY} bytes.")


def event_body(event: OutgoingEvent) -> Result[str]:
    """Return the body: handles and metadata, the same text for the same event.

    Errors:
        InvalidArgumentError: It has more than `MAX_BODY` bytes.
    """
    attributes = {
        "id": event.key,
        "source": f"/tenants/{quote(str(event.tenant_id), safe='')}",
        "type": f"{TYPE_PREFIX}{event.type}",
        "subject": event.subject,
        "time": event.happened_at,
        "datacontenttype": "application/json",
    }
    data = {name: value for name, value in sorted(event.payload.items()) if name != "type"}
    body = JSONFormat().write(CloudEvent(attributes, data))
    if len(body) > MAX_BODY:
        return Err(InvalidArgumentError(TOO_LARGE))
    return Ok(body.decode())
