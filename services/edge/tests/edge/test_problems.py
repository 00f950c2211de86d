import json

import pytest

from cogni_domain.access.resolver import NotAuthenticatedError, TenantDisabledError
from cogni_edge.problems import problem
from cogni_edge.requests import TooLargeError, TooSlowError
from cogni_kernel import (
    BudgetExceededError,
    ConflictError,
    Error,
    HumanText,
    InvalidArgumentError,
    ModelFacingText,
    NotFoundError,
    NotPermittedError,
    TimeoutError,
    UpstreamError,
)

MESSAGE = HumanText("What to do.")
HINT = ModelFacingText("sk-secret")


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        (NotAuthenticatedError, 401),
        (TenantDisabledError, 403),
        (NotFoundError, 404),
        (NotPermittedError, 404),
        (TooSlowError, 408),
        (ConflictError, 409),
        (TooLargeError, 413),
        (InvalidArgumentError, 422),
        (BudgetExceededError, 429),
        (UpstreamError, 503),
        (TimeoutError, 503),
        (Error, 500),
    ],
)
def test_each_error_has_its_status_and_tells_nothing_but_its_message(
    kind: type[Error], status: int
) -> None:
    response = problem(kind(MESSAGE, HINT, detail={"key": "sk-secret"}))
    body = json.loads(bytes(response.body))

    assert response.status_code == body["status"] == status
    assert response.media_type == "application/problem+json"
    assert set(body) == {"type", "title", "status"}
    assert body["title"] == "What to do." or status == 404
    assert b"secret" not in bytes(response.body)


def test_absent_and_forbidden_are_one() -> None:
    absent = problem(NotFoundError(HumanText("There is no page 7.")))
    forbidden = problem(NotPermittedError(HumanText("Page 7 is for HR alone.")))

    assert absent.body == forbidden.body
    assert absent.raw_headers == forbidden.raw_headers


def test_wrong_input_names_its_field() -> None:
    response = problem(InvalidArgumentError(MESSAGE, detail={"field": "message"}))

    assert json.loads(bytes(response.body))["field"] == "message"


@pytest.mark.parametrize(
    ("wanted", "header"), [(None, "5"), (0.2, "1"), (7, "7"), (12.01, "13"), ("soon", "5")]
)
@pytest.mark.parametrize("kind", [UpstreamError, BudgetExceededError])
def test_when_to_come_back_is_said_in_whole_seconds(
    kind: type[Error], wanted: object, header: str
) -> None:
    response = problem(kind(MESSAGE, detail={"retry_after_s": wanted}))

    assert response.headers["retry-after"] == header


def test_a_message_in_any_script_is_kept() -> None:
    response = problem(ConflictError(HumanText("请稍后再试 · حاول لاحقا")))

    assert json.loads(bytes(response.body))["title"] == "请稍后再试 · حاول لاحقا"
