"""Host tokens of the demo company, which is its own host."""

from datetime import timedelta

from cogni_domain.access.directory import Account
from cogni_domain.ports.clock import ClockPort
from cogni_domain.ports.directory import DirectoryPort
from cogni_embedded.bootstrap import Product
from cogni_embedded.demo import key_id
from cogni_kernel import Err, HumanText, NotFoundError, Ok, Result
from cogni_runtime.bindings import demo_token

NOT_THERE = HumanText("The demo company is not in this data folder yet. Start it: cogni run.")


async def signed_token(product: Product, account: Account, lifetime: timedelta) -> Result[str]:
    """Return a host token of the demo company.

    Errors:
        NotFoundError: The demo company is not in this data folder yet.
    """
    container = product.bindings.container
    issuer = await container.resolve(DirectoryPort).issuer(key_id(account.tenant_id))
    if isinstance(issuer, Err):
        return issuer
    if issuer.value is None:
        return Err(NotFoundError(NOT_THERE))
    clock = container.resolve(ClockPort)
    return Ok(demo_token(issuer.value, str(account.id), clock, lifetime))
