"""What every `ProfileStorePort` promises."""

import asyncio
import re
from abc import ABC, abstractmethod
from datetime import timedelta

from cogni_domain.governance.output_policy import OutputPolicy, Prohibition, Redaction
from cogni_domain.governance.profiles import (
    DEFAULT_PROFILE,
    AssistantProfile,
    ProfileContent,
    ProfileVersion,
)
from cogni_domain.ports.clock import ClockPort
from cogni_domain.ports.profile_store import ProfileStorePort
from cogni_engine import RunBounds
from cogni_kernel import (
    CorpusId,
    HumanText,
    ModelFacingText,
    NotFoundError,
    PrincipalId,
    TenantId,
    TokenCount,
)
from cogni_testing.assertions import err, ok
from cogni_testing.doubles import START, FrozenClock

ACME = TenantId("acme")
ADMIN = PrincipalId("administrator")


def a_content(instructions: str = "Answer from the handbook.") -> ProfileContent:
    """Return a content in which nothing is a default."""
    return ProfileContent(
        ModelFacingText(instructions),
        (CorpusId("handbook"), CorpusId("tickets")),
        grounded=False,
        bounds=RunBounds(
            3, TokenCount(9_000), timedelta(seconds=1.000001), START + timedelta(days=1)
        ),
        passages=5,
        output=OutputPolicy(
            (Prohibition("price", HumanText("Ask sales."), ("guaranteed price", "fixed price")),),
            (Redaction(re.compile("kite-[0-9]+", re.IGNORECASE), "a project"),),
        ),
    )


class ProfileStoreContract(ABC):
    """Profiles of acme, and of nobody else."""

    @abstractmethod
    async def make_profile_store(self, clock: ClockPort) -> ProfileStorePort:
        """Return a store; a second call in one test returns another over the same profiles."""

    async def test_a_draft_is_numbered_from_one(self) -> None:
        store = await self.make_profile_store(FrozenClock())

        drafts = [ok(await store.draft(ACME, "default", a_content(), ADMIN)) for _ in range(3)]

        assert [draft.number for draft in drafts] == [1, 2, 3]
        assert drafts[0] == ProfileVersion("default", ACME, 1, a_content(), ADMIN, START)

    async def test_nothing_serves_before_it_is_elected(self) -> None:
        store = await self.make_profile_store(FrozenClock())
        err(await store.elected(ACME, "intranet"), NotFoundError)
        ok(await store.draft(ACME, DEFAULT_PROFILE, a_content(), ADMIN))

        err(await store.elected(ACME, "intranet"), NotFoundError)

    async def test_the_elected_version_serves_as_it_was_drafted(self) -> None:
        clock = FrozenClock()
        store = await self.make_profile_store(clock)
        draft = ok(await store.draft(ACME, DEFAULT_PROFILE, a_content(), ADMIN))
        clock.advance(timedelta(hours=1))

        elected = ok(await store.elect(ACME, DEFAULT_PROFILE, 1, ADMIN))

        assert elected == AssistantProfile(DEFAULT_PROFILE, ACME, DEFAULT_PROFILE, draft)
        assert ok(await store.elected(ACME, "intranet")) == elected

    async def test_a_content_of_defaults_comes_back_too(self) -> None:
        store = await self.make_profile_store(FrozenClock())
        plain = ProfileContent(ModelFacingText(""), ())
        ok(await store.draft(ACME, DEFAULT_PROFILE, plain, ADMIN))

        assert ok(await store.elect(ACME, DEFAULT_PROFILE, 1, ADMIN)).elected.content == plain

    async def test_a_later_draft_changes_nothing_that_serves(self) -> None:
        store = await self.make_profile_store(FrozenClock())
        ok(await store.draft(ACME, DEFAULT_PROFILE, a_content("One."), ADMIN))
        before = ok(await store.elect(ACME, DEFAULT_PROFILE, 1, ADMIN))

        ok(await store.draft(ACME, DEFAULT_PROFILE, a_content("Two."), ADMIN))

        assert ok(await store.elected(ACME, "intranet")) == before

    async def test_a_rollback_is_the_same_move_backwards(self) -> None:
        store = await self.make_profile_store(FrozenClock())
        for words in ("One.", "Two."):
            ok(await store.draft(ACME, DEFAULT_PROFILE, a_content(words), ADMIN))

        refs = []
        for number in (1, 2, 1):
            ok(await store.elect(ACME, DEFAULT_PROFILE, number, ADMIN))
            refs.append(ok(await store.elected(ACME, "intranet")).elected.ref)

        assert refs == ["default@1", "default@2", "default@1"]

    async def test_a_version_that_is_not_there_is_not_elected(self) -> None:
        store = await self.make_profile_store(FrozenClock())
        ok(await store.draft(ACME, DEFAULT_PROFILE, a_content(), ADMIN))
        ok(await store.draft(ACME, "other", a_content(), ADMIN))
        before = ok(await store.elect(ACME, DEFAULT_PROFILE, 1, ADMIN))

        for profile, number in ((DEFAULT_PROFILE, 2), (DEFAULT_PROFILE, 0), ("nothing", 1)):
            err(await store.elect(ACME, profile, number, ADMIN), NotFoundError)

        assert ok(await store.elected(ACME, "intranet")) == before

    async def test_a_surface_with_a_profile_of_its_own_is_served_by_it(self) -> None:
        store = await self.make_profile_store(FrozenClock())
        for profile in (DEFAULT_PROFILE, "intranet", "helpdesk"):
            ok(await store.draft(ACME, profile, a_content(profile), ADMIN))
        for profile in (DEFAULT_PROFILE, "helpdesk"):
            ok(await store.elect(ACME, profile, 1, ADMIN))

        found = [
            ok(await store.elected(ACME, surface)).id
            for surface in ("helpdesk", "intranet", "site", DEFAULT_PROFILE)
        ]

        assert found == ["helpdesk", DEFAULT_PROFILE, DEFAULT_PROFILE, DEFAULT_PROFILE]

    async def test_another_surfaces_profile_serves_nobody_else(self) -> None:
        store = await self.make_profile_store(FrozenClock())
        ok(await store.draft(ACME, "helpdesk", a_content(), ADMIN))
        ok(await store.elect(ACME, "helpdesk", 1, ADMIN))

        err(await store.elected(ACME, "intranet"), NotFoundError)

    async def test_a_tenants_profiles_are_its_own(self) -> None:
        store, globex = await self.make_profile_store(FrozenClock()), TenantId("globex")
        ok(await store.draft(ACME, DEFAULT_PROFILE, a_content("Ours."), ADMIN))
        ok(await store.elect(ACME, DEFAULT_PROFILE, 1, ADMIN))

        err(await store.elected(globex, "intranet"), NotFoundError)
        err(await store.elect(globex, DEFAULT_PROFILE, 1, ADMIN), NotFoundError)
        assert ok(await store.draft(globex, DEFAULT_PROFILE, a_content(), ADMIN)).number == 1

    async def test_drafts_at_once_get_numbers_of_their_own(self) -> None:
        clock = FrozenClock()
        stores = [await self.make_profile_store(clock), await self.make_profile_store(clock)]
        asked = [stores[n % 2].draft(ACME, "default", a_content(f"{n}"), ADMIN) for n in range(10)]

        found = [ok(draft) for draft in await asyncio.gather(*asked)]

        assert sorted(draft.number for draft in found) == list(range(1, 11))
