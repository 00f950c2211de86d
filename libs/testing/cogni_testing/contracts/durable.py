"""What every `DurablePort` promises."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from datetime import datetime, timedelta

from cogni_domain.ports.durable import DurablePort
from cogni_testing.assertions import ok
from cogni_testing.contracts.runs import a_proposal
from cogni_testing.doubles import START

EXPIRY = a_proposal().expires_at


class DurableContract(ABC):
    """Time stands at START until the test lets it pass."""

    @abstractmethod
    async def make_durable(self) -> DurablePort:
        """Return what is under test; a second call in one test returns another over the same work."""

    @abstractmethod
    async def called(self, until: datetime) -> Sequence[tuple[str, str]]:
        """Let time pass until a moment; return the steps called since the last time, each done at once.

        A step is `expire` or `execute`, with the proposal's id.
        """

    async def test_a_proposal_expires_when_it_should(self) -> None:
        durable = await self.make_durable()
        ok(await durable.begin(a_proposal()))

        assert await self.called(EXPIRY - timedelta(seconds=1)) == []
        assert await self.called(EXPIRY) == [("expire", "p1")]

    async def test_an_accepted_proposal_is_executed_at_once(self) -> None:
        durable = await self.make_durable()
        ok(await durable.begin(a_proposal()))

        ok(await durable.decided(a_proposal()))

        assert await self.called(START) == [("execute", "p1")]

    async def test_an_execution_asked_for_twice_is_called_once(self) -> None:
        mine, theirs = await self.make_durable(), await self.make_durable()
        for durable in (mine, theirs):
            ok(await durable.begin(a_proposal()))
            ok(await durable.decided(a_proposal()))

        assert await self.called(START) == [("execute", "p1")]
        assert await self.called(EXPIRY) == [("expire", "p1")]

    async def test_an_execution_that_was_lost_can_be_asked_for_again(self) -> None:
        durable = await self.make_durable()
        ok(await durable.decided(a_proposal()))
        await self.called(START)

        ok(await durable.decided(a_proposal()))

        assert await self.called(START) == [("execute", "p1")]

    async def test_proposals_do_not_touch(self) -> None:
        durable = await self.make_durable()
        for proposal in ("p1", "p2"):
            ok(await durable.begin(a_proposal(proposal)))
        ok(await durable.decided(a_proposal("p2")))

        assert await self.called(START) == [("execute", "p2")]
        assert sorted(await self.called(EXPIRY)) == [("expire", "p1"), ("expire", "p2")]
