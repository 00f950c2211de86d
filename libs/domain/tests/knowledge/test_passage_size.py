import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogni_domain.knowledge.passage_size import hundredths


@given(st.text(max_size=40), st.text(max_size=40))
def test_sizes_add_up(one: str, other: str) -> None:
    assert hundredths(one + other) == hundredths(one) + hundredths(other)


@given(st.text(max_size=40))
def test_all_but_white_space_has_a_size(text: str) -> None:
    assert (hundredths(text) > 0) == bool(text.strip())


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("Every employee has twenty days of paid leave in each year of employment.", 14),
        ("Die Kündigungsfrist für Beschäftigte beträgt vier Wochen zum Monatsende.", 27),
        ("正式员工每年享有二十天带薪年假。", 16),
        ("Сотрудники имеют право на ежегодный отпуск.", 39),
        ("정규직 직원은 유급 휴가를 사용할 수 있습니다.", 44),
    ],
)
def test_sizes_are_near_those_of_the_vocabulary(text: str, pieces: int) -> None:
    assert 0.7 < hundredths(text) / 100 / pieces < 1.3
