"""Mail: parts, headers, messages in messages, attachments."""

from collections.abc import Callable
from email.message import EmailMessage
from typing import TypeAlias

from cogni_domain.knowledge.extracted import BlockKind, ExtractedDocument

Reader: TypeAlias = Callable[[str, bytes], ExtractedDocument]


def message(subject: str, text: str) -> EmailMessage:
    mail = EmailMessage()
    mail["From"] = "Zoë <zoe@acme.example>"
    mail["To"] = "all@acme.example"
    mail["Subject"] = subject
    mail.set_content(text)
    return mail


def test_headers_and_body_are_a_section_under_the_subject(read: Reader) -> None:
    found = read("a.eml", message("Über alles", "First.\n\nSecond.").as_bytes())

    assert found.media_type == "message/rfc822"
    assert found.title == "Über alles"
    assert [(block.kind, block.text) for block in found.blocks] == [
        (BlockKind.HEADING, "Über alles"),
        (
            BlockKind.PARAGRAPH,
            "From: Zoë <zoe@acme.example>\nTo: all@acme.example\nSubject: Über alles",
        ),
        (BlockKind.PARAGRAPH, "First."),
        (BlockKind.PARAGRAPH, "Second."),
    ]


def test_a_mail_is_known_by_its_headers_whatever_its_name(read: Reader) -> None:
    assert read("letter", message("Hi", "x").as_bytes()).media_type == "message/rfc822"
    assert read("a.txt", b"Note: this\nTo: do\n\ntext").media_type == "text/plain"


def test_of_alternatives_the_plain_one_is_read(read: Reader) -> None:
    mail = message("Hi", "plain words")
    mail.add_alternative("<p>rich words</p>", subtype="html")

    texts = [block.text for block in read("a.eml", mail.as_bytes()).blocks]

    assert "plain words" in texts
    assert "rich words" not in texts


def test_html_is_read_where_it_is_all_there_is(read: Reader) -> None:
    mail = EmailMessage()
    mail["Subject"] = "Hi"
    mail.set_content("<p>rich <b>words</b></p><script>x</script>", subtype="html")

    assert read("a.eml", mail.as_bytes()).blocks[-1].text == "rich words"


def test_a_message_inside_a_message_is_a_section_inside(read: Reader) -> None:
    outer = message("Fwd", "see below")
    inner = message("Origin", "the source")
    inner.add_attachment(b"1", "application", "octet-stream", filename="größe.bin")
    outer.add_attachment(inner)

    found = read("a.eml", outer.as_bytes())

    assert found.blocks[-1].text == "the source"
    assert found.blocks[-1].heading == ("Fwd", "Origin")
    assert [entry.name for entry in found.attachments] == ["größe.bin"]


def test_a_wrong_charset_is_read_for_what_it_is(read: Reader) -> None:
    raw = (
        b"From: a@x.example\r\nTo: b@x.example\r\nSubject: =?utf-8?Q?caf=C3?= =?utf-8?Q?=A9?=\r\n"
        b"Content-Type: text/plain; charset=no-such-thing\r\n\r\n" + "Größe".encode("cp1252")
    )

    found = read("a.eml", raw)

    assert found.title == "café"
    assert found.blocks[-1].text == "Größe"


def test_messages_inside_messages_end_somewhere(read: Reader) -> None:
    raw = (
        b"Subject: deep\r\nContent-Type: message/rfc822\r\n\r\n" * 60 + b"Subject: last\r\n\r\nbody"
    )

    found = read("a.eml", raw)

    assert found.missing == ("messages inside more than twenty others",)


def test_an_attachment_without_a_name_gets_one(read: Reader) -> None:
    mail = message("Hi", "x")
    mail.add_attachment(b"1", "application", "octet-stream")

    assert [entry.name for entry in read("a.eml", mail.as_bytes()).attachments] == ["attachment 1"]
