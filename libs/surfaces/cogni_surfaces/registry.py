"""Which surfaces there are, and which of them a tenant has."""

from collections.abc import Iterable
from dataclasses import dataclass

from cogni_domain.access.directory import Issuer, Tenant
from cogni_domain.ports.directory import DirectoryPort
from cogni_kernel import Err, HumanText, NotFoundError, Ok, Result, TenantId
from cogni_surfaces.base import Base
from cogni_surfaces.chat import ChatSurface
from cogni_surfaces.terminal import TerminalSurface
from cogni_surfaces.words import HostWords

NO_SURFACE = HumanText("There is nothing here under that name that you can open.")


@dataclass(frozen=True, slots=True)
class OpenSurface:
    """A surface that a tenant has, and what the host's tools say there."""

    surface: type[Base]
    tenant: Tenant
    words: HostWords = HostWords()  # noqa: RUF009 - a frozen value


class SurfaceRegistry:
    """Finds a surface by its id, unless the tenant switched it off; asked anew at every request.

    Attributes:
        words: What the host's own tools say, in other languages.
    """

    def __init__(
        self,
        directory: DirectoryPort,
        surfaces: Iterable[type[Base]] = (ChatSurface, TerminalSurface),
        words: HostWords = HostWords(),  # noqa: B008 - a frozen value
    ) -> None:
        self.words = words
        self._directory = directory
        self._surfaces = {surface.id: surface for surface in surfaces}

    async def open(self, tenant: TenantId | None, surface_id: str) -> Result[OpenSurface]:
        """Return a tenant's surface.

        Errors:
            NotFoundError: There is none of that id, the tenant is not there, or either is switched off.
        """
        surface = self._surfaces.get(surface_id)
        if tenant is None or surface is None:
            return Err(NotFoundError(NO_SURFACE))
        found = await self._directory.tenant(tenant)
        if isinstance(found, Err):
            return found
        if found.value is None or not found.value.enabled:
            return Err(NotFoundError(NO_SURFACE))
        if surface_id in found.value.surfaces_off:
            return Err(NotFoundError(NO_SURFACE))
        return Ok(OpenSurface(surface, found.value, self.words))

    async def framed(self, key_id: str, surface_id: str) -> Result[Issuer]:
        """Return whose pages may hold a surface in a frame: those of the key that its address names.

        Errors:
            NotFoundError: There is no such key, no such surface, or it is not one for a frame.
        """
        issuer = await self._directory.issuer(key_id)
        if isinstance(issuer, Err):
            return issuer
        if issuer.value is None:
            return Err(NotFoundError(NO_SURFACE))
        found = await self.open(issuer.value.tenant_id, surface_id)
        if isinstance(found, Err):
            return found
        if not found.value.surface.framed:
            return Err(NotFoundError(NO_SURFACE))
        return Ok(issuer.value)
