"""The demo company, put into an empty data folder: tenants, keys, people, grants, corpora, a profile."""

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date

from cogni_acme.content import load_content
from cogni_acme.intranet import Intranet
from cogni_acme.people import Company, People, Person, load_people
from cogni_acme.subjects import IntranetSubjects
from cogni_acme.tools import TOOLS, demo_resources
from cogni_acme.words import WORDS
from cogni_domain.access.directory import Issuer
from cogni_domain.access.grants import GrantCatalogue
from cogni_domain.access.principal import MembershipState
from cogni_domain.access.tokens import user_token
from cogni_domain.governance.profiles import DEFAULT_PROFILE, ProfileContent
from cogni_domain.knowledge.corpus import Corpus, IndexId
from cogni_domain.ports.directory import DirectoryPort
from cogni_domain.ports.document_store import DocumentStorePort
from cogni_domain.ports.profile_store import ProfileStorePort
from cogni_domain.ports.subject import SubjectPort
from cogni_engine import Base, Clock
from cogni_kernel import CorpusId, Err, ModelFacingText, Ok, PrincipalId, Result, TenantId
from cogni_surfaces import HostWords

INTRANET = CorpusId("intranet")
ADMINISTRATOR = PrincipalId("administrator")
HOST = "https://intranet.demo.example"
AUDIENCE = "cogni"
INSTRUCTIONS = ModelFacingText(
    "You help the people of this company find what its own pages, tickets and files say."
)


@dataclass(frozen=True, slots=True)
class Demo:
    """The demo company's own systems, in memory."""

    people: People
    intranets: Mapping[TenantId, Intranet]
    tools: Sequence[type[Base]]
    resources: Mapping[type, object]
    subjects: SubjectPort
    words: HostWords = HostWords(WORDS)  # noqa: RUF009 - a frozen value

    @property
    def catalogue(self) -> GrantCatalogue:
        """Every grant there is."""
        return GrantCatalogue(self.people.grants)


def load_demo(clock: Clock) -> Demo:
    """Read the demo company's files."""
    people = load_people()
    tenants = [company.tenant.id for company in people.companies]
    intranets = {t: Intranet(load_content(str(t), people=people).items()) for t in tenants}

    def today() -> date:
        return clock.now().date()

    subjects = IntranetSubjects(people, intranets, INTRANET)
    return Demo(people, intranets, TOOLS, demo_resources(intranets, today), subjects)


def key_id(tenant: TenantId) -> str:
    """Return the id of the key that signs a demo tenant's host tokens."""
    return f"demo-{tenant}"


def _origins(port: int) -> tuple[str, ...]:
    return f"http://127.0.0.1:{port}", f"http://localhost:{port}"


@dataclass(frozen=True, slots=True)
class DemoSeed:
    """Writes what is not there yet; a second time changes nothing that a person has changed."""

    directory: DirectoryPort
    documents: DocumentStorePort
    profiles: ProfileStorePort
    embedder_version: str

    async def plant(self, demo: Demo, host_port: int | None = None) -> Result[None]:
        """Write every tenant of the demo.

        Args:
            host_port: Where the demo host page is served on this machine, so that it may frame the surface.
        """
        for company in demo.people.companies:
            origins = () if host_port is None else _origins(host_port)
            done = await self._key(company.tenant.id, origins)
            if isinstance(done, Err):
                return done
            done = await self._company(demo, company)
            if isinstance(done, Err):
                return done
        return Ok(None)

    async def _company(self, demo: Demo, company: Company) -> Result[None]:
        known = await self.directory.tenant(company.tenant.id)
        if isinstance(known, Err) or known.value is not None:
            return known if isinstance(known, Err) else Ok(None)
        for step in (self._accounts, self._assistant):
            done = await step(demo, company.tenant.id)
            if isinstance(done, Err):
                return done
        return await self.directory.put_tenant(company.tenant)

    async def _key(self, tenant: TenantId, origins: tuple[str, ...]) -> Result[None]:
        """Make the key of the tenant's host, random, and good on this machine alone; add to its origins."""
        known = await self.directory.issuer(key_id(tenant))
        if isinstance(known, Err):
            return known
        key = known.value or Issuer(
            *(key_id(tenant), tenant, "HS256", secrets.token_urlsafe(48), HOST, AUDIENCE),
            loopback_only=True,
        )
        every = tuple(dict.fromkeys((*key.origins, *origins)))
        if known.value is not None and every == key.origins:
            return Ok(None)
        return await self.directory.put_issuer(replace(key, origins=every))

    async def _accounts(self, demo: Demo, tenant: TenantId) -> Result[None]:
        for person in demo.people.people:
            if person.account.tenant_id == tenant:
                done = await self._account(person)
                if isinstance(done, Err):
                    return done
        return Ok(None)

    async def _account(self, person: Person) -> Result[None]:
        account = person.account
        done = await self.directory.put_account(account, str(account.id))
        if isinstance(done, Err):
            return done
        learnt = await self.directory.set_memberships(
            account.tenant_id, account.id, person.groups, MembershipState.KNOWN
        )
        if isinstance(learnt, Err):
            return learnt
        return await self.directory.set_grants(
            account.tenant_id, user_token(account.id), person.grants
        )

    async def _assistant(self, _: Demo, tenant: TenantId) -> Result[None]:
        made = await self.corpus(tenant, INTRANET, "Intranet")
        return made if isinstance(made, Err) else Ok(None)

    async def corpus(self, tenant: TenantId, corpus: CorpusId, name: str) -> Result[Corpus]:
        """Return a corpus that the tenant's assistant looks in; make it, and let it, where it does not yet."""
        index = IndexId(tenant, corpus)
        wanted = Corpus(corpus, tenant, name, index, self.embedder_version)
        made = await self.documents.put_corpus(wanted)
        if isinstance(made, Err):
            return made
        elected = await self.profiles.elected(tenant, "chat")
        corpora = () if isinstance(elected, Err) else elected.value.elected.content.corpora
        if corpus in corpora:
            return made
        content = ProfileContent(INSTRUCTIONS, (*corpora, corpus))
        draft = await self.profiles.draft(tenant, DEFAULT_PROFILE, content, ADMINISTRATOR)
        if isinstance(draft, Err):
            return draft
        done = await self.profiles.elect(tenant, DEFAULT_PROFILE, draft.value.number, ADMINISTRATOR)
        return done if isinstance(done, Err) else made
