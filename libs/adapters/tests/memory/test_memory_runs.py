from collections.abc import Mapping, Sequence

import pytest

from cogni_adapters.memory.proposals import MemoryProposalStoreAdapter
from cogni_adapters.memory.run_log import MemoryRunLogAdapter
from cogni_adapters.memory.state import MemoryState
from cogni_adapters.memory.transcripts import MemoryTranscriptStoreAdapter
from cogni_domain.events import event_payload
from cogni_domain.ports.clock import ClockPort
from cogni_testing.contracts.proposal_store import ProposalStoreContract
from cogni_testing.contracts.run_log import RunLogContract
from cogni_testing.contracts.transcript_store import TranscriptStoreContract


class OneState:
    memory: MemoryState

    @pytest.fixture(autouse=True)
    def a_memory_of_its_own(self) -> None:
        self.memory = MemoryState()

    async def make_run_log(self) -> MemoryRunLogAdapter:
        return MemoryRunLogAdapter(self.memory)

    async def make_proposal_store(self) -> MemoryProposalStoreAdapter:
        return MemoryProposalStoreAdapter(self.memory)

    async def make_transcript_store(self, clock: ClockPort) -> MemoryTranscriptStoreAdapter:
        return MemoryTranscriptStoreAdapter(self.memory, clock)

    async def events(self) -> Sequence[Mapping[str, object]]:
        return list(map(event_payload, self.memory.events.values()))


class TestMemoryRunLog(OneState, RunLogContract):
    pass


class TestMemoryProposalStore(OneState, ProposalStoreContract):
    pass


class TestMemoryTranscriptStore(OneState, TranscriptStoreContract):
    pass
