from collections.abc import AsyncIterator

import pytest

from tests.servers.endpoints import Endpoints, endpoints


@pytest.fixture
async def outside() -> AsyncIterator[Endpoints]:
    """Endpoints on this machine, as if they were outside."""
    async with endpoints() as found:
        yield found
