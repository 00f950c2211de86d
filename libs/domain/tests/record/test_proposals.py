"""The state machine of a proposal: only the first decision counts, and no state is left twice."""

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogni_domain.proposals import (
    DECIDED,
    EXPIRED,
    NO_SUCH,
    TRANSITIONS,
    ProposalState,
    may_follow,
)
from cogni_kernel import ConflictError, Err, NotFoundError, Ok, PrincipalId
from cogni_testing import START
from cogni_testing.contracts.runs import a_proposal

PENDING = a_proposal()
ALICE, BOB = PENDING.proposed_to, PrincipalId("bob")
states = st.sampled_from(ProposalState)


@given(st.lists(states, max_size=8))
def test_no_path_leads_back_to_a_decision_or_to_a_second_execution(
    path: list[ProposalState],
) -> None:
    seen = [ProposalState.PENDING]
    for wanted in path:
        if may_follow(seen[-1], wanted):
            seen.append(wanted)

    assert len(set(seen)) == len(seen)
    assert seen.count(ProposalState.EXECUTING) <= 1


def test_what_is_settled_stays_so() -> None:
    for state in (
        ProposalState.EXECUTED,
        ProposalState.FAILED,
        ProposalState.DECLINED,
        ProposalState.EXPIRED,
    ):
        assert not any(may_follow(state, wanted) for wanted in ProposalState)
    assert TRANSITIONS[ProposalState.UNKNOWN] == {ProposalState.EXECUTED, ProposalState.FAILED}


def test_nothing_is_executed_that_was_not_accepted() -> None:
    before = {s for s, after in TRANSITIONS.items() if ProposalState.EXECUTING in after}

    assert before == {ProposalState.ACCEPTED}


def test_who_was_shown_it_may_decide_until_it_expires() -> None:
    last = PENDING.expires_at - timedelta(microseconds=1)

    assert PENDING.decidable(ALICE, START) == Ok(PENDING)
    assert PENDING.decidable(ALICE, last) == Ok(PENDING)
    assert PENDING.decidable(ALICE, PENDING.expires_at) == Err(ConflictError(EXPIRED))


@given(states, st.integers(0, 48))
def test_to_anybody_else_it_is_not_there_whatever_its_state(
    state: ProposalState, hours: int
) -> None:
    proposal = replace(PENDING, state=state)

    assert proposal.decidable(BOB, START + timedelta(hours=hours)) == Err(NotFoundError(NO_SUCH))


@pytest.mark.parametrize("state", [s for s in ProposalState if s is not ProposalState.PENDING])
def test_what_was_decided_is_not_decided_again(state: ProposalState) -> None:
    wanted = EXPIRED if state is ProposalState.EXPIRED else DECIDED

    late = replace(PENDING, state=state).decidable(ALICE, START)

    assert late == Err(ConflictError(wanted))


def test_arguments_have_a_name_of_their_own() -> None:
    other = replace(PENDING, arguments='{"days":4}')

    assert PENDING.arguments_digest == replace(PENDING, note="x").arguments_digest
    assert PENDING.arguments_digest != other.arguments_digest
