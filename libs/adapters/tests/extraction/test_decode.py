"""Encodings: marks, declarations and guesses."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogni_adapters.extraction.decode import decode


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("Die Größe der Tür", "cp1252"),
        ("It’s “quoted” — and more…", "cp1252"),
        ("The price is 5 € today", "cp1252"),
        ("Temperature 20 °C ± 2", "cp1252"),
        ("Müller", "cp1252"),
        ("zażółć gęślą jaźń", "cp1250"),
        ("Příliš žluťoučký kůň úpěl", "cp1250"),
        ("İstanbul şehri ığdır", "cp1254"),
        ("Привет, как дела? Это тест.", "cp1251"),
        ("Привет, как дела? Это тест.", "koi8_r"),
        ("Однажды, в студеную зимнюю пору", "cp866"),
        ("Γειά σου Κόσμε", "cp1253"),
        ("שלום עולם", "cp1255"),
        ("مرحبا بالعالم", "cp1256"),
        ("日本語のテキストです。", "cp932"),
        ("你好，世界。这是一个测试", "gb18030"),
        ("這是一個測試，歡迎來到維基大典", "big5"),
        ("안녕하세요 세계", "cp949"),
    ],
)
def test_a_short_text_without_a_declaration_is_guessed_and_said(text: str, encoding: str) -> None:
    decoded = decode(text.encode(encoding))

    assert decoded.text == text
    assert decoded.warning == f"no encoding declared: read as {decoded.encoding}"


@given(st.text(st.characters(codec="utf-8"), min_size=1))
def test_utf_8_is_never_guessed_away(text: str) -> None:
    decoded = decode(b"\xef\xbb\xbf" + text.encode())

    assert (decoded.text, decoded.encoding) == (text, "utf-8")


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_wide_text_is_known_without_a_mark(encoding: str) -> None:
    assert decode("name,city\nJosé,Köln\n".encode(encoding)).text == "name,city\nJosé,Köln\n"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
def test_a_mark_decides_whatever_is_declared(encoding: str) -> None:
    assert decode("Žluť".encode(encoding), "ascii").text == "Žluť"


def test_a_declaration_is_believed_where_it_fits() -> None:
    assert decode("Ж".encode("cp866"), "cp866").text == "Ж"
    assert decode("5 €".encode("cp1252"), "iso-8859-1").text == "5 €"
    assert decode("Größe".encode("cp1252"), "utf-8").text == "Größe"


def test_damaged_utf_8_stays_utf_8() -> None:
    text = "Größe und Länge über alles Maß hinaus, schöne Grüße"

    decoded = decode(text.encode() + b"\xc3")

    assert decoded.text == text + "\ufffd"
    assert decoded.warning.startswith("damaged UTF-8")


@given(st.binary(max_size=200), st.sampled_from([None, "utf-7", "idna", "hex", "no such", "cp037"]))
def test_any_bytes_become_text(data: bytes, declared: str | None) -> None:
    decode(data, declared).text.encode("utf-8", "surrogatepass")
