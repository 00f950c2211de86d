"""Records of a host product, in memory."""

from cogni_domain.access.rule import AccessRule
from cogni_domain.access.scope import Scope
from cogni_domain.ports.subject import SubjectPort
from cogni_domain.subjects import Subject, SubjectRef
from cogni_kernel import Err, HumanText, NotFoundError, Ok, Result

NO_RECORD = Err(
    NotFoundError(HumanText("There is nothing here under that name that you can open."))
)


class MemorySubjectsAdapter(SubjectPort):
    """Each record with the rule of who may see it."""

    def __init__(self) -> None:
        self._records: dict[SubjectRef, tuple[Subject, AccessRule]] = {}

    def put(self, subject: Subject, rule: AccessRule) -> None:
        """Add a record, or change it."""
        self._records[subject.ref] = (subject, rule)

    async def resolve(self, ref: SubjectRef, scope: Scope) -> Result[Subject]:
        subject, rule = self._records.get(ref, (None, None))
        if subject is None or rule is None or ref.tenant_id != scope.tenant_id:
            return NO_RECORD
        parties = scope.principal.parties()
        return Ok(subject) if all(rule.admits(p.own_tokens()) for p in parties) else NO_RECORD
