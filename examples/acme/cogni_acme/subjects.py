"""The records that the demo company's pages show, by reference, for who may see them."""

from collections.abc import Mapping
from dataclasses import dataclass

from cogni_acme.content import Item, Kind
from cogni_acme.intranet import Intranet
from cogni_acme.people import People, Person
from cogni_domain.access.rule import AccessRule
from cogni_domain.access.scope import Scope
from cogni_domain.ports.subject import SubjectPort
from cogni_domain.subjects import Subject, SubjectRef, SubjectSource
from cogni_kernel import CorpusId, Err, HumanText, NotFoundError, Ok, Result, TenantId

CONNECTOR = "intranet"
NO_RECORD = HumanText("There is nothing here under that name that you can open.")

_KINDS = {
    "page": Kind.PAGE,
    "request": Kind.TICKET,
    "ticket": Kind.TICKET,
    "comment": Kind.COMMENT,
    "file": Kind.FILE,
}


@dataclass(frozen=True, slots=True)
class IntranetSubjects(SubjectPort):
    """Pages, requests, files and people. A request is named by its reference or by its id."""

    people: People
    intranets: Mapping[TenantId, Intranet]
    corpus: CorpusId

    async def resolve(self, ref: SubjectRef, scope: Scope) -> Result[Subject]:
        if ref.tenant_id != scope.tenant_id:
            return Err(NotFoundError(NO_RECORD))
        if ref.kind == "person":
            return self._person(ref)
        item = self._item(ref)
        if item is None or not _may_read(item, scope):
            return Err(NotFoundError(NO_RECORD))
        return Ok(Subject(ref, item.title, source=SubjectSource(self.corpus, CONNECTOR, item.id)))

    def _item(self, ref: SubjectRef) -> Item | None:
        intranet, kind = self.intranets.get(ref.tenant_id), _KINDS.get(ref.kind)
        if intranet is None or kind is None:
            return None
        item = intranet.get(ref.id) or (intranet.ticket(ref.id) if kind is Kind.TICKET else None)
        return item if item is not None and item.kind is kind else None

    def _person(self, ref: SubjectRef) -> Result[Subject]:
        for person in self.people.people:
            if (person.account.id.value, person.account.tenant_id) == (ref.id, ref.tenant_id):
                return Ok(Subject(ref, person.account.display_name, _profile(person)))
        return Err(NotFoundError(NO_RECORD))


def _may_read(item: Item, scope: Scope) -> bool:
    rule = item.rule
    return isinstance(rule, AccessRule) and all(
        rule.admits(party.own_tokens()) for party in scope.principal.parties()
    )


def _profile(person: Person) -> str:
    """Return what every colleague may know."""
    facts = {"Name": person.account.display_name, "Title": person.title}
    return "\n".join(f"{name}: {value}" for name, value in facts.items())
