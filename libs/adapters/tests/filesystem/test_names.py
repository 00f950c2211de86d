from hypothesis import given
from hypothesis import strategies as st

from cogni_adapters.filesystem.names import shown, to_path, to_source_id

names = st.binary(min_size=1, max_size=20).filter(lambda n: b"/" not in n and b"\0" not in n)
paths = st.lists(names, max_size=5).map(tuple)


@given(paths)
def test_every_path_survives_the_way_there_and_back(path: tuple[bytes, ...]) -> None:
    assert to_path(to_source_id(path)) == path


@given(paths)
def test_an_id_is_plain_text(path: tuple[bytes, ...]) -> None:
    assert set(to_source_id(path)) <= set(
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-~%/"
    )


def test_two_spellings_of_a_name_are_two_ids_and_read_alike() -> None:
    composed, decomposed = b"Caf\xc3\xa9.md", b"Cafe\xcc\x81.md"

    assert to_source_id((composed,)) != to_source_id((decomposed,))
    assert shown(composed) == shown(decomposed) == "Café.md"


def test_a_name_that_is_no_text_can_still_be_shown() -> None:
    assert shown(b"caf\xe9.md") == "caf\ufffd.md"


def test_a_name_hides_nothing() -> None:
    assert shown("invoice\u202efdp.exe".encode()) == "invoicefdp.exe"
