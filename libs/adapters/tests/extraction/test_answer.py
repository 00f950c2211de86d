"""What a child says is a value or nothing."""

from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogni_adapters.extraction.answer import decode_answer, encode_answer
from cogni_domain.knowledge.extracted import (
    Attachment,
    Block,
    BlockKind,
    ExtractedDocument,
    Reason,
    Skipped,
)

text = st.text(st.characters(codec="utf-8"), max_size=20)
texts = st.lists(text, max_size=3).map(tuple)
blocks = st.builds(Block, st.sampled_from(BlockKind), text.filter(str.strip), texts, text)
attachments = st.builds(Attachment, text, st.binary(max_size=20))
documents = st.builds(
    ExtractedDocument,
    text,
    st.lists(blocks, max_size=3).map(tuple),
    text,
    st.lists(attachments, max_size=3).map(tuple),
    texts,
    texts,
)
skips = st.builds(Skipped, st.sampled_from(Reason), text)


@given(documents | skips)
def test_an_answer_comes_back_as_it_was_given(answer: ExtractedDocument | Skipped) -> None:
    file = BytesIO()
    encode_answer(answer, file)

    assert decode_answer(file.getvalue()) == answer


@given(st.binary(max_size=60))
def test_any_other_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        decode_answer(data)


GOOD = b'{"title":"t","media_type":"m","blocks":[%s],"attachments":[%s],"missing":[],"warnings":[%s]}\nxy'


def test_the_good_answer_of_the_next_test_is_good() -> None:
    assert isinstance(
        decode_answer(GOOD % (b'["code","x",[],""]', b'["n",2]', b'"w"')), ExtractedDocument
    )


@pytest.mark.parametrize(
    "parts",
    [
        (b'["verse","x",[],""]', b"", b""),
        (b'["code"," ",[],""]', b"", b""),
        (b'["code","x",[1],""]', b"", b""),
        (b'{"text":"x"}', b"", b""),
        (b"", b'["n",3]', b""),
        (b"", b'["n",-1]', b""),
        (b"", b'["n",1],["m",2]', b""),
        (b"", b"", b"7"),
    ],
)
def test_a_field_of_another_kind_is_refused(parts: tuple[bytes, bytes, bytes]) -> None:
    with pytest.raises(ValueError, match=r"."):
        decode_answer(GOOD % parts)
