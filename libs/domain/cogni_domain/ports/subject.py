"""Records of the host product, by reference."""

from typing import Protocol

from cogni_domain.access.scope import Scope
from cogni_domain.subjects import Subject, SubjectRef
from cogni_kernel import Result


class SubjectPort(Protocol):
    """The one way from a reference to a record."""

    async def resolve(self, ref: SubjectRef, scope: Scope) -> Result[Subject]:
        """Return a record as the person of `scope` may see it.

        Errors:
            NotFoundError: It is absent, of another tenant, or not for this person: indistinguishable.
        """
        ...
