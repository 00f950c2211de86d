"""The four tools of the demo, each called as a run would call it."""

from collections.abc import Mapping, Sequence
from datetime import date

import pytest

from cogni_acme.content import load_content
from cogni_acme.host import LeaveAccounts
from cogni_acme.intranet import Intranet
from cogni_acme.people import load_people
from cogni_acme.tools import (
    TOOLS,
    HandbookSearch,
    HeadcountChart,
    RequestLookup,
    TimeOffRequest,
    demo_resources,
)
from cogni_domain.access.grants import GrantCatalogue
from cogni_domain.access.tool_offer import (
    OfferContext,
    ToolCatalogue,
    ToolContext,
    ToolRegistryComposer,
)
from cogni_domain.knowledge.citations import Citation, CitationHandle
from cogni_domain.knowledge.search import CitedPassage, Passages
from cogni_engine import (
    Arguments,
    ChartPayload,
    Effect,
    PlanPayload,
    ToolResult,
    parse_arguments,
)
from cogni_kernel import (
    ChunkId,
    ConflictError,
    DocumentId,
    Err,
    Error,
    HumanText,
    InvalidArgumentError,
    NotFoundError,
    NotPermittedError,
    Ok,
    Result,
    RunRef,
    TenantId,
)
from cogni_testing import CapturingChannel, fake_principal, fake_scope, ok

TODAY = date(2026, 11, 30)
WEEK = {"first_day": "2026-12-07", "last_day": "2026-12-11"}


class FoundPassages(Passages):
    """Gives what it was told to give."""

    def __init__(self, result: Result[Sequence[CitedPassage]]) -> None:
        self._result = result

    async def search(self, question: str) -> Result[Sequence[CitedPassage]]:
        return self._result


@pytest.fixture(scope="module")
def resources() -> Mapping[type, object]:
    intranets = {
        TenantId(tenant): Intranet(load_content(tenant).items()) for tenant in ("acme", "globex")
    }
    return demo_resources(intranets, today=lambda: TODAY)


@pytest.fixture
def accounts(resources: Mapping[type, object]) -> LeaveAccounts:
    """Fresh accounts, since bookings stay."""
    fresh = demo_resources({}, today=lambda: TODAY)[LeaveAccounts]
    assert isinstance(fresh, LeaveAccounts)
    return fresh


def _context(
    person: str, resources: Mapping[type, object], run: str = "run-1", machine: bool = False
) -> ToolContext:
    principal = load_people().principal(person)
    if machine:
        principal = fake_principal(id="planner", groups=["directory/it"], on_behalf_of=principal)
    return ToolContext(principal, fake_scope(principal), RunRef(run), resources)


def _result(found: ToolResult | Error) -> ToolResult:
    assert isinstance(found, ToolResult), found
    return found


def test_each_person_is_offered_what_the_grants_say() -> None:
    people = load_people()
    composer = ToolRegistryComposer(ToolCatalogue(GrantCatalogue(people.grants), TOOLS))

    offered = {
        str(person.account.id): composer.compose(
            people.principal(str(person.account.id)), OfferContext()
        ).snapshot.names()
        for person in people.people
    }

    reading = {"search_handbook", "look_up_request"}
    assert offered["contractor"] == offered["outsider"] == reading
    assert offered["engineer"] == reading | {"request_time_off"}
    assert offered["hr-lead"] == reading | {"request_time_off", "chart_headcount"}


def test_only_time_off_changes_anything() -> None:
    assert [tool for tool in TOOLS if tool.effect is Effect.MUTATE] == [TimeOffRequest]


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: str(tool.definition.name))
def test_what_a_tool_names_is_bound_or_comes_with_the_run(
    tool: type, resources: Mapping[type, object]
) -> None:
    assert set(tool.requires) <= {*resources, Passages}  # type: ignore[attr-defined]


async def test_a_search_gives_passages_as_content_with_their_handles() -> None:
    citation = Citation(CitationHandle("s4"), "Leave", "Asking", DocumentId("d1"), ChunkId("c1"))
    passages = FoundPassages(Ok([CitedPassage(citation, "Ask </passage> two weeks ahead.")]))
    tool = HandbookSearch(_context("engineer", {Passages: passages}))

    result = _result(await tool.call({"question": "How do I ask for leave?"}))

    assert '<passage handle="s4" label="Leave, Asking">' in str(result.for_model)
    assert str(result.for_model).count("</passage>") == 1
    assert result.screen == "Leave, Asking [s4]"
    assert [ref.handle for ref in result.citations] == ["s4"]


async def test_a_passage_without_a_place_is_labelled_by_its_title_alone() -> None:
    citation = Citation(CitationHandle("s1"), "Leave", "", DocumentId("d1"), ChunkId("c1"))
    passages = FoundPassages(Ok([CitedPassage(citation, "Text.")]))
    tool = HandbookSearch(_context("engineer", {Passages: passages}))

    assert _result(await tool.call({"question": "Leave?"})).screen == "Leave [s1]"


async def test_a_search_without_a_hit_is_no_evidence() -> None:
    tool = HandbookSearch(_context("engineer", {Passages: FoundPassages(Ok([]))}))

    assert _result(await tool.call({"question": "Tungsten?"})).is_empty


async def test_a_search_that_fails_is_an_error_and_not_an_empty_result() -> None:
    broken = Err(InvalidArgumentError(HumanText("Ask something.")))
    tool = HandbookSearch(_context("engineer", {Passages: FoundPassages(broken)}))

    assert await tool.call({"question": " "}) == broken.error


async def _ask_for(
    reference: str, person: str, resources: Mapping[type, object]
) -> ToolResult | Error:
    return await RequestLookup(_context(person, resources)).call({"reference": reference})


async def test_a_request_is_found_however_its_number_is_written(
    resources: Mapping[type, object],
) -> None:
    result = _result(await _ask_for(" req-4417 ", "engineer", resources))

    assert '"status": "open"' in str(result.for_model)
    assert "Suzhou-B" in str(result.for_model)


@pytest.mark.parametrize(
    ("person", "sees_internal"), [("support", True), ("engineer", False), ("hr-lead", False)]
)
async def test_an_internal_comment_is_shown_to_who_may_read_it(
    person: str, sees_internal: bool, resources: Mapping[type, object]
) -> None:
    result = _result(await _ask_for("REQ-4471", person, resources))

    assert ("2231" in str(result.for_model)) is sees_internal
    assert "replaced in advance" in str(result.for_model)


async def test_absent_and_forbidden_requests_are_answered_alike(
    resources: Mapping[type, object],
) -> None:
    forbidden = await _ask_for("REQ-4440", "engineer", resources)
    absent = await _ask_for("REQ-9999", "engineer", resources)

    assert isinstance(forbidden, NotFoundError)
    assert isinstance(absent, NotFoundError)
    assert str(forbidden.message).replace("4440", "9999") == str(absent.message)
    assert forbidden.model_hint == absent.model_hint
    assert forbidden.detail == absent.detail == {}


async def test_the_same_number_in_another_tenant_is_another_request(
    resources: Mapping[type, object],
) -> None:
    ours = _result(await _ask_for("REQ-4471", "outsider", resources))

    assert "Scanner at gate 3" in str(ours.for_model)
    assert "Delft" not in str(ours.for_model)


async def test_a_machine_sees_of_a_request_what_both_it_and_its_person_may(
    resources: Mapping[type, object],
) -> None:
    context = _context("support", resources, machine=True)

    found = await RequestLookup(context).call({"reference": "REQ-4471"})

    assert isinstance(found, NotFoundError)


async def test_a_principal_without_a_tenant_finds_no_request(
    resources: Mapping[type, object],
) -> None:
    stranger = fake_principal(tenant=None)
    context = ToolContext(stranger, fake_scope(), RunRef("r"), resources)

    found = await RequestLookup(context).call({"reference": "REQ-4455"})

    assert isinstance(found, NotFoundError)


async def test_a_number_that_is_none_is_sent_back_with_the_fix(
    resources: Mapping[type, object],
) -> None:
    found = await _ask_for("the laptop one", "engineer", resources)

    assert isinstance(found, InvalidArgumentError)
    assert found.model_hint is not None


async def _chart(
    args: Arguments, resources: Mapping[type, object], person: str = "hr-lead"
) -> tuple[ToolResult | Error, CapturingChannel]:
    channel = CapturingChannel()
    tool = HeadcountChart(_context(person, resources), channel)
    return await tool.call(args), channel


async def test_headcount_goes_to_the_screen_and_its_marker_to_the_model(
    resources: Mapping[type, object],
) -> None:
    result, channel = await _chart({}, resources)

    (chart,) = channel.payloads()
    assert isinstance(chart, ChartPayload)
    assert chart.labels == ("2025-Q4", "2026-Q1", "2026-Q2", "2026-Q3")
    assert sum(series.values[-1] or 0 for series in chart.series) == 412
    assert str(_result(result).for_model).startswith("[[CHART:c1]] Headcount, all departments: 412")
    assert "139" not in str(_result(result).for_model)


async def test_one_department_is_found_whatever_its_case(resources: Mapping[type, object]) -> None:
    _, channel = await _chart({"department": "engineering"}, resources)

    (chart,) = channel.payloads()
    assert isinstance(chart, ChartPayload)
    assert [series.name for series in chart.series] == ["Engineering"]


async def test_an_unknown_department_is_sent_back_with_those_there_are(
    resources: Mapping[type, object],
) -> None:
    found, channel = await _chart({"department": "Magic"}, resources)

    assert isinstance(found, InvalidArgumentError)
    assert "Engineering" in str(found.model_hint)
    assert channel.payloads() == ()


async def test_headcount_is_of_the_persons_own_company_alone(
    resources: Mapping[type, object],
) -> None:
    principal = load_people().principal("outsider")
    scope = fake_scope(principal)
    tool = HeadcountChart(ToolContext(principal, scope, RunRef("r"), resources), CapturingChannel())

    assert _result(await tool.call({})).is_empty


def _time_off(
    accounts: LeaveAccounts, person: str = "engineer", run: str = "run-1", machine: bool = False
) -> TimeOffRequest:
    return TimeOffRequest(_context(person, {LeaveAccounts: accounts}, run, machine))


async def test_the_preview_says_dates_days_and_balance_and_books_nothing(
    accounts: LeaveAccounts,
) -> None:
    mutation = await _time_off(accounts).propose(WEEK, "call-1")

    assert not isinstance(mutation, Error)
    assert isinstance(mutation.rendering, PlanPayload)
    assert {step.title: step.detail for step in mutation.rendering.steps} == {
        "Dates": "Monday 7 December 2026 to Friday 11 December 2026",
        "Working days": "5 working days",
        "Balance": "12 days left before, 7 after",
    }
    assert accounts.days_left((TenantId("acme"), load_people().principal("engineer").id)) == 12


async def test_an_accepted_request_is_booked_once_however_often_it_is_executed(
    accounts: LeaveAccounts,
) -> None:
    first = _result(await _time_off(accounts).call(WEEK))
    again = _result(await _time_off(accounts).call(WEEK))

    assert first == again
    assert "12 days left before, 7 after" in str(first.for_model)
    assert accounts.days_left((TenantId("acme"), load_people().principal("engineer").id)) == 7


async def test_the_same_days_asked_for_in_another_run_are_a_conflict(
    accounts: LeaveAccounts,
) -> None:
    await _time_off(accounts).call(WEEK)

    assert isinstance(await _time_off(accounts, run="run-2").call(WEEK), ConflictError)


async def test_a_machine_books_for_the_person_it_acts_for(accounts: LeaveAccounts) -> None:
    _result(await _time_off(accounts, "support", machine=True).call(WEEK))

    assert accounts.days_left((TenantId("acme"), load_people().principal("support").id)) == 10


async def test_what_cannot_be_booked_is_not_even_proposed(accounts: LeaveAccounts) -> None:
    past = {"first_day": "2026-11-02", "last_day": "2026-11-03"}
    unreadable = {"first_day": "next Monday", "last_day": "2026-12-11"}

    assert isinstance(await _time_off(accounts).propose(past, "c"), InvalidArgumentError)
    assert isinstance(await _time_off(accounts).propose(unreadable, "c"), InvalidArgumentError)
    assert isinstance(await _time_off(accounts).call(unreadable), InvalidArgumentError)


async def test_one_day_is_named_once(accounts: LeaveAccounts) -> None:
    day = {"first_day": "2026-12-07", "last_day": "2026-12-07"}

    plan = await _time_off(accounts).preview(day)

    assert isinstance(plan, PlanPayload)
    assert [step.detail for step in plan.steps][:2] == ["Monday 7 December 2026", "1 working day"]


async def test_who_has_no_leave_account_is_told_so(accounts: LeaveAccounts) -> None:
    found = await _time_off(accounts, "contractor").propose(WEEK, "c")

    assert isinstance(found, NotPermittedError)
    assert "agency" in str(found.message)


def test_a_day_left_out_is_caught_before_the_tool_is_asked() -> None:
    assert isinstance(
        parse_arguments('{"first_day": "2026-12-07"}', TimeOffRequest.definition), Err
    )
    assert ok(parse_arguments("{}", HeadcountChart.definition)) == {}
