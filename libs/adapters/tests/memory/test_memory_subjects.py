from cogni_adapters.memory.subjects import MemorySubjectsAdapter
from cogni_domain.access.rule import AccessRule
from cogni_domain.subjects import Subject, SubjectRef
from cogni_kernel import TenantId
from cogni_testing import fake_principal
from cogni_testing.contracts.subject import SubjectCase, SubjectContract


class TestMemorySubjects(SubjectContract):
    def make_case(self) -> SubjectCase:
        port, ref = MemorySubjectsAdapter(), SubjectRef("page", "leave", TenantId("acme"))
        port.put(Subject(ref, "Leave", "Twenty weeks."), AccessRule.any_of("u:41"))
        return SubjectCase(
            port,
            ref,
            fake_principal(id="41", tenant="acme"),
            fake_principal(id="42", tenant="acme"),
            fake_principal(id="41", tenant="globex"),
        )
