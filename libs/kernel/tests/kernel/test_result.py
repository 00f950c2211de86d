from hypothesis import given
from hypothesis import strategies as st

from cogni_kernel import ConflictError, Err, HumanText, NotFoundError, Ok, Result

MISSING = NotFoundError(HumanText("There is no such page."))
TAKEN = ConflictError(HumanText("Somebody was first."))


def half(number: int) -> int:
    return number // 2


def negative(number: int) -> int:
    return -number


@given(st.integers())
def test_mapping_a_value_twice_is_mapping_it_once_with_both(number: int) -> None:
    assert Ok(number).map(half).map(negative) == Ok(negative(half(number)))


@given(st.integers())
def test_mapping_by_nothing_changes_nothing(number: int) -> None:
    assert Ok(number).map(lambda same: same) == Ok(number)


def test_an_error_is_not_mapped() -> None:
    failed = Err(MISSING)

    assert failed.map(half) is failed


def test_a_value_needs_nothing_else() -> None:
    found = Ok(3)

    assert found.or_else(lambda error: Ok(0)) is found


def test_an_error_is_replaced_by_a_value_or_by_another_error() -> None:
    asked: list[object] = []

    def again(error: object) -> Result[int]:
        asked.append(error)
        return Ok(0)

    assert Err(MISSING).or_else(again) == Ok(0)
    assert asked == [MISSING]
    assert Err(MISSING).or_else(lambda _: Err(TAKEN)) == Err(TAKEN)


def test_results_are_values() -> None:
    assert Ok("a") == Ok("a")
    assert Err(MISSING) == Err(NotFoundError(HumanText("There is no such page.")))
    assert len({Ok(1), Ok(1), Err(MISSING), Err(MISSING)}) == 2


def test_a_result_can_be_matched() -> None:
    def read(result: Result[int]) -> str:
        match result:
            case Ok(value):
                return f"{value}"
            case Err(error):
                return error.code

    assert [read(Ok(1)), read(Err(MISSING))] == ["1", "NotFound"]
