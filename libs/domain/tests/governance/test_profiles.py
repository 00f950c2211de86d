"""A profile's versions are named as a run record names them."""

from cogni_domain.governance.profiles import AssistantProfile, ProfileContent, ProfileVersion
from cogni_kernel import CorpusId, ModelFacingText, PrincipalId, TenantId
from cogni_testing import START

CONTENT = ProfileContent(ModelFacingText("Be brief."), (CorpusId("handbook"),))
VERSION = ProfileVersion("default", TenantId("acme"), 3, CONTENT, PrincipalId("admin"), START)


def test_a_version_is_named_by_its_profile_and_number() -> None:
    assert VERSION.ref == "default@3"
    assert (
        AssistantProfile("default", TenantId("acme"), "Assistant", VERSION).elected.ref
        == "default@3"
    )


def test_an_assistant_is_grounded_and_bounded_unless_it_is_said_otherwise() -> None:
    assert CONTENT.grounded
    assert CONTENT.bounds.max_tool_calls > 0
    assert CONTENT.passages > 0
