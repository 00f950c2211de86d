from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

import pytest

from cogni_adapters.database.durable import DatabaseDurableAdapter
from cogni_adapters.database.engine import Database
from cogni_adapters.database.queue import DatabaseQueueAdapter
from cogni_domain.jobs import PROPOSAL_EXECUTE, PROPOSAL_EXPIRE, Lane
from cogni_domain.ports.durable import DurablePort
from cogni_testing.assertions import ok
from cogni_testing.contracts.durable import DurableContract
from cogni_testing.doubles import FrozenClock

STEPS = {PROPOSAL_EXPIRE: "expire", PROPOSAL_EXECUTE: "execute"}


class TestDatabaseDurable(DurableContract):
    @pytest.fixture(autouse=True)
    def _open(self, open_database: Callable[[], Database]) -> None:
        self.open_database = open_database
        self.clock = FrozenClock()

    async def make_durable(self) -> DurablePort:
        return DatabaseDurableAdapter(DatabaseQueueAdapter(self.open_database(), self.clock))

    async def called(self, until: datetime) -> Sequence[tuple[str, str]]:
        queue = DatabaseQueueAdapter(self.open_database(), self.clock)
        self.clock.advance(until - self.clock.now())
        found = []
        while taken := ok(await queue.dequeue(Lane.CONVERSATIONAL, timedelta(1))):
            found += [(STEPS[t.job.kind], t.job.payload["proposal_id"]) for t in taken]
            assert ok(await queue.complete(taken)) == 1
        return found
