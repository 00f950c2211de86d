"""What the assistant can do for the demo company's people, besides answering from its content."""

import re
from collections.abc import Callable, Mapping
from datetime import date

from cogni_acme.host import (
    Account,
    CompanyFigures,
    LeaveAccounts,
    TimeOff,
    load_days_left,
    load_headcount,
)
from cogni_acme.intranet import Intranet
from cogni_acme.request_desk import RequestDesk
from cogni_acme.tickets import Ticket
from cogni_domain.access.tool_offer import ToolContext
from cogni_domain.knowledge.search import CitedPassage, Passages
from cogni_engine import (
    Arguments,
    Base,
    ChartPayload,
    CostBand,
    Effect,
    Parameter,
    ParameterType,
    PassagePart,
    PlanPayload,
    PlanStep,
    Renderable,
    Series,
    ToolResult,
    canonical,
    describe,
)
from cogni_kernel import (
    Err,
    Error,
    GrantKey,
    InvalidArgumentError,
    ModelFacingText,
    NotFoundError,
    Ok,
    Result,
    TenantId,
)

_REFERENCE = re.compile(r"REQ-\d{1,6}", re.ASCII)


def _text(name: str, description: str, *, required: bool = True) -> Parameter:
    return Parameter(name, ParameterType.STRING, ModelFacingText(description), required)


class HandbookSearch(Base):
    """Search again, with other words than the person's."""

    context: ToolContext
    definition = describe(
        "search_handbook",
        does="Search the company's pages, tickets and files for passages that answer a question.",
        use_when="the passages at hand do not answer the question, or another wording may find more",
        do_not_use="to look up one request by its number, or for figures about headcount",
        instead="look the request up with look_up_request, and draw headcount with chart_headcount",
        parameters=(_text("question", "What to search for, as a whole question."),),
        returns="passages with a handle each, like s1, to cite them by",
        activity="Searching the handbook",
    )
    grant = GrantKey("handbook.search")
    effect = Effect.READ
    cost_band = CostBand.MODERATE
    requires = (Passages,)

    async def call(self, args: Arguments) -> ToolResult | Error:
        passages = self.context.resource(Passages)
        found = await passages.search(str(args["question"]))
        if isinstance(found, Err):
            return found.error
        if not found.value:
            return ToolResult.empty(
                ModelFacingText("Nothing that this person may open answers that. Say so.")
            )
        parts = [PassagePart(hit.handle, _place(hit), hit.text) for hit in found.value]
        return ToolResult.data(
            "\n".join(f"{part.label} [{part.handle}]" for part in parts),
            compact=ModelFacingText("\n\n".join(part.as_content() for part in parts)),
            citations=tuple(found.value),
        )


class RequestLookup(Base):
    """One request, by its number."""

    context: ToolContext
    definition = describe(
        "look_up_request",
        does="Look up the status, the text and the comments of one filed request by its reference number.",
        use_when="the person names a specific request, like REQ-4471",
        do_not_use="for questions about a process, a rule or a product, or when no number is named",
        instead="answer those from the handbook",
        parameters=(_text("reference", "The request's reference number, like REQ-4471."),),
        returns="the request as far as this person may see it",
        activity="Looking up the request",
    )
    grant = GrantKey("requests.read")
    effect = Effect.READ
    requires = (RequestDesk,)

    async def call(self, args: Arguments) -> ToolResult | Error:
        reference = str(args["reference"]).strip().upper()
        if not _REFERENCE.fullmatch(reference):
            return self.fail(
                InvalidArgumentError,
                "A request has a number like REQ-4471.",
                "The reference is REQ- and digits. Ask the person for it if it is not known.",
            )
        ticket = self.context.resource(RequestDesk).find(self.context.principal, reference)
        if ticket is None:
            return self.fail(
                NotFoundError,
                f"There is no request {reference} that you can open.",
                "Say that there is no such request that this person can open. Do not guess why.",
            )
        return ToolResult.data(_facts(ticket))


class HeadcountChart(Base):
    """How many people work where, quarter by quarter."""

    context: ToolContext
    definition = describe(
        "chart_headcount",
        does="Draw a chart of the company's headcount by department and quarter.",
        use_when="the person asks how many people work in a department or how headcount developed",
        do_not_use="for questions about a single person, about pay, or about absence",
        instead="answer those from the handbook",
        parameters=(
            _text("department", "One department, like Engineering; left out, all.", required=False),
        ),
        returns="a marker for the chart, which the person sees, and the newest total",
        activity="Drawing the chart",
    )
    grant = GrantKey("people.read")
    effect = Effect.READ
    requires = (CompanyFigures,)

    async def call(self, args: Arguments) -> ToolResult | Error:
        figures = self.context.resource(CompanyFigures).headcount(self.context.scope.tenant_id)
        if figures is None:
            return ToolResult.empty(ModelFacingText("This company publishes no headcount."))
        wanted = str(args.get("department", "")).strip().casefold()
        rows = {
            name: row
            for name, row in figures.departments.items()
            if not wanted or name.casefold() == wanted
        }
        if not rows:
            known = ", ".join(figures.departments)
            return self.fail(
                InvalidArgumentError,
                "There is no such department.",
                f"The departments are {known}. Name one of them, or none for all.",
            )
        title = f"Headcount, {', '.join(rows) if wanted else 'all departments'}"
        series = tuple(Series(name, row) for name, row in rows.items())
        marker = await self.emit(ChartPayload(title, figures.quarters, series, "line", "people"))
        total = sum(row[-1] for row in rows.values())
        summary = f"{title}: {total} people at the end of {figures.quarters[-1]}."
        return ToolResult.marker(marker, ModelFacingText(summary))


class TimeOffRequest(Base):
    """Annual leave for the person who asks, once they have accepted it."""

    context: ToolContext
    definition = describe(
        "request_time_off",
        does="Book annual leave for the person who is asking, from a first to a last day.",
        use_when="the person asks to book or request leave and has named the days",
        do_not_use="to answer how much leave somebody has, for parental or sick leave, or for others",
        instead="answer questions about leave from the handbook",
        parameters=(
            _text("first_day", "The first day off, as a date like 2026-12-07."),
            _text("last_day", "The last day off, as a date like 2026-12-11; the same for one day."),
        ),
        returns="what was booked, after the person has accepted",
        activity="Preparing the time off",
    )
    grant = GrantKey("timeoff.request")
    effect = Effect.MUTATE
    requires = (LeaveAccounts,)

    async def preview(self, args: Arguments) -> Renderable | Error:
        span = _span(args)
        if isinstance(span, Err):
            return span.error
        planned = self._accounts().plan(self._account(), *span.value)
        if isinstance(planned, Err):
            return planned.error
        return PlanPayload("Book annual leave", _steps(planned.value))

    async def call(self, args: Arguments) -> ToolResult | Error:
        span = _span(args)
        if isinstance(span, Err):
            return span.error
        key = f"{self.context.run_ref} {canonical(args)}"
        booked = self._accounts().book(self._account(), *span.value, key)
        if isinstance(booked, Err):
            return booked.error
        dates, days, balance = _steps(booked.value)
        return ToolResult.data(f"Booked: {dates.detail}. {days.detail}; {balance.detail}.")

    def _accounts(self) -> LeaveAccounts:
        return self.context.resource(LeaveAccounts)

    def _account(self) -> Account:
        """Return the account of the person, also where a machine acts for one."""
        return self.context.scope.tenant_id, self.context.principal.parties()[-1].id


TOOLS: tuple[type[Base], ...] = (HandbookSearch, RequestLookup, HeadcountChart, TimeOffRequest)


def demo_resources(
    intranets: Mapping[TenantId, Intranet], today: Callable[[], date]
) -> Mapping[type, object]:
    """Return what the tools require of the demo company's own systems; `Passages` comes with each run."""
    return {
        RequestDesk: RequestDesk(intranets),
        CompanyFigures: CompanyFigures(load_headcount()),
        LeaveAccounts: LeaveAccounts(load_days_left(), today),
    }


def _place(hit: CitedPassage) -> str:
    return ", ".join(filter(None, (hit.citation.label, hit.citation.locator)))


def _facts(ticket: Ticket) -> dict[str, object]:
    return {
        "reference": ticket.reference,
        "title": ticket.title,
        "status": ticket.status,
        "opened": ticket.opened.isoformat(),
        "text": ticket.body,
        "comments": [
            {
                "day": comment.day.isoformat(),
                "audience": "internal" if comment.is_internal else "public",
                "text": comment.text,
            }
            for comment in ticket.comments
        ],
    }


def _span(args: Arguments) -> Result[tuple[date, date]]:
    try:
        first, last = (date.fromisoformat(str(args[name])) for name in ("first_day", "last_day"))
    except ValueError:
        hint = "Give both days as dates like 2026-12-07."
        return Err(Base.fail(InvalidArgumentError, "The days were not understood.", hint))
    return Ok((first, last))


def _steps(span: TimeOff) -> tuple[PlanStep, PlanStep, PlanStep]:
    dates = _day(span.first)
    if span.last != span.first:
        dates += f" to {_day(span.last)}"
    return (
        PlanStep("Dates", dates),
        PlanStep("Working days", f"{span.days} working day{'s' if span.days > 1 else ''}"),
        PlanStep("Balance", f"{span.left_before} days left before, {span.left_after} after"),
    )


def _day(day: date) -> str:
    return f"{day:%A} {day.day} {day:%B %Y}"
