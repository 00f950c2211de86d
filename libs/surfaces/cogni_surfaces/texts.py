"""What surfaces say to people, in two languages; what models read is in none of them."""

import re
from collections.abc import Mapping
from enum import Enum

from cogni_application.proposals.execution import BROKEN
from cogni_application.proposals.proposals import NO_LONGER, TOO_LATE
from cogni_application.turn.outcome_view import STOPPED
from cogni_application.turn.reaper import INTERRUPTED
from cogni_application.turn.run_turn import COMPOSING, NOTHING_FOUND, SEARCHING
from cogni_application.turn.take_turn import BLANK, MAX_MESSAGE, TOO_LONG
from cogni_application.turn.transcripts import AHEAD, NO_SUCH
from cogni_domain.access.resolver import BAD_TOKEN, DISABLED
from cogni_domain.access.scope import NO_ACCESS
from cogni_domain.conversations import WITHHELD
from cogni_domain.proposals import DECIDED, EXPIRED

GENERATED_LABEL = "Generated answer. Check it against its sources."
NO_SOURCES = "This answer names no source."
FRESHNESS_UNKNOWN = "How fresh its sources are is not known."
READ_UP_TO = "Sources read up to"
NO_ANSWER = "The assistant could not answer. You can ask again."
BROKEN_STREAM = "This answer broke off on our side. Please ask again."
IGNORED = (
    "What a client sends in these fields is not used: tools, rights and history are the server's."
)
STATES: Mapping[str, str] = {
    "pending": "Nothing has been decided yet.",
    "accepted": "Accepted. It is being carried out.",
    "executing": "Accepted. It is being carried out.",
    "executed": "Accepted. It has been carried out.",
    "failed": str(BROKEN),
    "unknown": "It is not known whether this was carried out. Check before you try again.",
    "declined": "Declined. Nothing was changed.",
    "expired": str(EXPIRED),
}
"""What is said of a proposal, by its state, where the tool itself has said nothing."""

_RANGE = re.compile(r"\s*([A-Za-z]{1,8}|\*)(?:-[A-Za-z0-9-]{1,32})?\s*(?:;\s*q=([0-9.]{1,5})\s*)?")
_MAX_RANGES = 20


class Language(Enum):
    """A language that people are spoken to in."""

    EN = "en"
    DE = "de"


_GERMAN: Mapping[str, str] = {
    GENERATED_LABEL: "Automatisch erzeugte Antwort. Bitte an den Quellen prüfen.",
    NO_SOURCES: "Diese Antwort nennt keine Quelle.",
    FRESHNESS_UNKNOWN: "Wie aktuell die Quellen sind, ist nicht bekannt.",
    "Assistant": "Assistent",
    READ_UP_TO: "Quellen gelesen bis",
    BROKEN_STREAM: "Die Antwort ist bei uns abgebrochen. Bitte fragen Sie noch einmal.",
    IGNORED: (
        "Was ein Client in diesen Feldern schickt, wird nicht verwendet: Werkzeuge, Rechte und Verlauf hat der Server."
    ),
    STATES["pending"]: "Es ist noch nichts entschieden.",
    STATES["accepted"]: "Angenommen. Es wird ausgeführt.",
    STATES["executed"]: "Angenommen. Es wurde ausgeführt.",
    STATES["unknown"]: (
        "Es ist nicht bekannt, ob dies ausgeführt wurde. Sehen Sie nach, bevor Sie es noch einmal versuchen."
    ),
    STATES["declined"]: "Abgelehnt. Nichts wurde geändert.",
    str(SEARCHING): "Suche läuft",
    str(COMPOSING): "Antwort wird geschrieben",
    str(NOTHING_FOUND): (
        "Dazu habe ich in dem, was Sie hier lesen dürfen, nichts gefunden. Versuchen Sie andere Wörter, nennen Sie "
        "die Seite oder den Vorgang, oder fragen Sie jemanden, der weiß, wo es steht."
    ),
    str(STOPPED): (
        "Diese Antwort wurde angehalten, bevor sie fertig war. Fragen Sie noch einmal, um weiterzumachen."
    ),
    str(INTERRUPTED): "Die Antwort wurde bei uns unterbrochen. Bitte fragen Sie noch einmal.",
    "I can't do that with the tools you have here. Try asking for it in other words.": (
        "Das kann ich mit den Werkzeugen hier nicht tun. Versuchen Sie, es anders zu sagen."
    ),
    "The assistant can't be reached right now. Please try again in a minute.": (
        "Der Assistent ist gerade nicht erreichbar. Bitte versuchen Sie es in einer Minute wieder."
    ),
    NO_ANSWER: "Der Assistent konnte nicht antworten. Sie können noch einmal fragen.",
    WITHHELD: (
        "Dieser Teil des Gesprächs beruht auf einem Dokument, das Sie nicht mehr öffnen dürfen."
    ),
    str(BLANK): "Bitte schreiben Sie eine Frage.",
    str(TOO_LONG): (
        f"Ihre Nachricht ist zu lang: höchstens {MAX_MESSAGE} Zeichen. Bitte kürzen Sie sie."
    ),
    str(BAD_TOKEN): "Ihre Anmeldung gilt nicht mehr. Bitte melden Sie sich neu an.",
    str(DISABLED): (
        "Der Assistent ist für Ihre Organisation abgeschaltet. Fragen Sie Ihre Administration."
    ),
    str(
        NO_ACCESS
    ): "Sie haben keinen Zugang zu diesem Assistenten. Fragen Sie Ihre Administration.",
    str(NO_SUCH): "Unter diesem Namen gibt es hier nichts, was Sie öffnen können.",
    str(AHEAD): "Diese Antwort hat noch kein Ereignis mit dieser Nummer.",
    str(EXPIRED): (
        "Dieser Vorschlag ist abgelaufen. Fragen Sie noch einmal, wenn Sie die Änderung noch wollen."
    ),
    str(DECIDED): "Über diesen Vorschlag ist schon entschieden.",
    str(NO_LONGER): "Sie dürfen diese Änderung nicht mehr vornehmen.",
    str(TOO_LATE): "Dieser Vorschlag war abgelaufen, bevor er ausgeführt werden konnte.",
    str(BROKEN): "Diese Änderung war nicht möglich. Es ist nichts geschehen.",
}


def said(text: str, language: Language) -> str:
    """Return a sentence of the product's own in a language; one that has no translation stays as it is.

    >>> said("This answer names no source.", Language.DE)
    'Diese Antwort nennt keine Quelle.'
    """
    return _GERMAN.get(text, text) if language is Language.DE else text


def language_of(accepted: str) -> Language:
    """Return the language that an `Accept-Language` header likes best, English where it names none of ours.

    >>> language_of("fr, de-AT;q=0.8, en;q=0.7")
    <Language.DE: 'de'>
    """
    best, found = 0.0, Language.EN
    for part in accepted.split(",")[:_MAX_RANGES]:
        match = _RANGE.fullmatch(part)
        spoken = match and next((c for c in Language if c.value == match[1].casefold()), None)
        if match and spoken and (quality := _quality(match[2])) > best:
            best, found = quality, spoken
    return found


def _quality(written: str | None) -> float:
    try:
        return min(float(written), 1.0) if written else 1.0
    except ValueError:
        return 0.0
