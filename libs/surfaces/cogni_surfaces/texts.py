"""What surfaces say to people, in two languages; what models read is in none of them."""

import re
from collections.abc import Mapping
from enum import Enum

from cogni_application.attached_files import UNREADABLE
from cogni_application.attachments import TOO_MANY
from cogni_application.proposals.execution import BROKEN, NOT_KNOWN
from cogni_application.proposals.proposals import NO_LONGER, TOO_LATE
from cogni_application.proposals.proposals import STOPPED as STOPPED_MEANWHILE
from cogni_application.turn.feedback import GOES_ON
from cogni_application.turn.outcome_view import STOPPED
from cogni_application.turn.reaper import INTERRUPTED
from cogni_application.turn.run_turn import COMPOSING, NOTHING_FOUND, SEARCHING
from cogni_application.turn.take_turn import BLANK, MAX_MESSAGE, TOO_LONG
from cogni_application.turn.transcripts import AHEAD, NO_SUCH
from cogni_domain.access.resolver import BAD_TOKEN, DISABLED
from cogni_domain.access.scope import NO_ACCESS
from cogni_domain.access.scope import TOO_MANY as TOO_MANY_GROUPS
from cogni_domain.conversations import WITHHELD
from cogni_domain.knowledge.extracted import Reason
from cogni_domain.proposals import DECIDED, EXPIRED
from cogni_domain.providers import failures

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
    NOT_KNOWN: "Es ist nicht bekannt, ob dies geschehen ist. Bitte sehen Sie nach.",
    STOPPED_MEANWHILE: (
        "Das Produkt wurde währenddessen angehalten. Bitte sehen Sie nach, ob es geschehen ist."
    ),
    "Looking it up": "Es wird nachgesehen",
    str(
        GOES_ON
    ): "Diese Antwort ist noch nicht fertig. Sagen Sie, was Sie davon halten, wenn sie es ist.",
    str(TOO_MANY_GROUPS): (
        "Ihr Konto ist in mehr Gruppen, als sicher durchsucht werden können. Ihre Administration kann sie verringern."
    ),
    str(
        TOO_MANY
    ): "Ein Gespräch fasst höchstens 10 Dateien. Entfernen Sie eine, oder beginnen Sie ein neues.",
    str(UNREADABLE[Reason.EMPTY]): (
        "In dieser Datei ist kein lesbarer Text. Ist sie ein Scan, lassen Sie zuerst die Schrift erkennen."
    ),
    str(UNREADABLE[Reason.ENCRYPTED]): (
        "Diese Datei ist mit einem Passwort geschützt. Heben Sie den Schutz auf und fügen Sie sie neu hinzu."
    ),
    str(UNREADABLE[Reason.CORRUPT]): (
        "Diese Datei ist beschädigt. Speichern Sie sie neu und fügen Sie sie noch einmal hinzu."
    ),
    str(UNREADABLE[Reason.TOO_LARGE]): (
        "Diese Datei ist zu groß, um gelesen zu werden. Fügen Sie einen Teil davon hinzu."
    ),
    str(UNREADABLE[Reason.BOUNDED]): (
        "Diese Datei enthält mehr, als hier gelesen werden kann. Fügen Sie einen Teil davon hinzu."
    ),
    str(UNREADABLE[Reason.UNSUPPORTED]): (
        "Diese Art von Datei lässt sich nicht lesen. Speichern Sie sie als PDF, Office-, Text- oder Webdatei und "
        "fügen Sie diese hinzu."
    ),
    str(UNREADABLE[Reason.UNREADABLE]): (
        "Diese Datei lässt sich nicht lesen. Speichern Sie sie in einem anderen Format und fügen Sie sie neu hinzu."
    ),
    "Your file did not arrive in time. Please try again.": (
        "Ihre Datei kam nicht rechtzeitig an. Bitte versuchen Sie es noch einmal."
    ),
    "The file was cut off.": "Die Datei kam nicht vollständig an.",
    "Your request did not arrive in time. Please try again.": (
        "Ihre Anfrage kam nicht rechtzeitig an. Bitte versuchen Sie es noch einmal."
    ),
    "This idempotency key was used for another request. Use a new one.": (
        "Diese Anfrage wurde schon einmal mit anderem Inhalt gesendet. Bitte fragen Sie neu."
    ),
    "The language model does not answer at the moment. Please try again soon.": (
        "Das Sprachmodell antwortet im Moment nicht. Bitte versuchen Sie es bald noch einmal."
    ),
    "The product's own database did not answer. Please try again in a minute.": (
        "Die Datenbank hat nicht geantwortet. Bitte versuchen Sie es in einer Minute wieder."
    ),
    "No assistant is set up here yet. An administrator has to elect a profile.": (
        "Hier ist noch kein Assistent eingerichtet. Ihre Administration muss ein Profil wählen."
    ),
    str(
        failures.AWAY
    ): "Das Sprachmodell ist gerade nicht erreichbar. Bitte versuchen Sie es in einer Minute wieder.",
    str(
        failures.BUSY
    ): "Das Sprachmodell ist gerade ausgelastet. Bitte versuchen Sie es in einer Minute wieder.",
    str(
        failures.LATE
    ): "Das Sprachmodell hat zu lange gebraucht. Bitte versuchen Sie es noch einmal.",
    str(failures.CUT): "Die Antwort brach ab, bevor sie fertig war. Bitte fragen Sie noch einmal.",
    str(
        failures.TOO_LONG
    ): "Die Antwort wurde zu lang und abgeschnitten. Bitte fragen Sie nach einem Teil davon.",
}

_WITH_NAMES: tuple[tuple[re.Pattern[str], str], ...] = (
    (
        re.compile(
            r"Something went wrong on our side\. Please (?:try|ask) again; if it stays, report (\S+)\."
        ),
        r"Bei uns ist etwas schiefgegangen. Bitte versuchen Sie es noch einmal; bleibt es so, melden Sie \1.",
    ),
    (
        re.compile(r"The (?:file|request) is too large: at most ([0-9]+) bytes\."),
        r"Das ist zu groß: höchstens \1 Bytes.",
    ),
)
"""Sentences with something of the moment in them."""

_PLACE = re.compile(
    "(pages?|slides?|lines?|rows?|parts?|paragraphs?|sections?) ([0-9]+(?:-[0-9]+)?)"
)
_NUMBERED: Mapping[str, str] = {
    "page": "Seite",
    "pages": "Seiten",
    "slide": "Folie",
    "slides": "Folien",
    "line": "Zeile",
    "lines": "Zeilen",
    "row": "Zeile",
    "rows": "Zeilen",
    "part": "Teil",
    "parts": "Teile",
    "paragraph": "Absatz",
    "paragraphs": "Absätze",
    "section": "Abschnitt",
    "sections": "Abschnitte",
}


def said(text: str, language: Language) -> str:
    """Return a sentence of the product's own in a language; one that has no translation stays as it is.

    >>> said("This answer names no source.", Language.DE)
    'Diese Antwort nennt keine Quelle.'
    """
    if language is not Language.DE:
        return text
    if (known := _GERMAN.get(text)) is not None:
        return known
    matched = ((pattern.fullmatch(text), german) for pattern, german in _WITH_NAMES)
    return next((match.expand(german) for match, german in matched if match), text)


def said_place(locator: str, language: Language) -> str:
    """Return a place in a document in a language: the headings stay, the last part is ours.

    >>> said_place("Leave › lines 3-5", Language.DE)
    'Leave › Zeilen 3-5'
    """
    if language is not Language.DE:
        return locator
    headings, arrow, last = locator.rpartition(" › ")
    place = _PLACE.fullmatch(last)
    return f"{headings}{arrow}{_NUMBERED[place[1]]} {place[2]}" if place else locator


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
