"""The company as the product meets it: a connector that lists pages with their rules, and an embedder to which all texts are alike."""

from collections.abc import AsyncIterator, Sequence

import numpy as np

from cogni_domain.access.rule import AccessRule, Unmappable
from cogni_domain.knowledge.extracted import (
    Attachment,
    Block,
    BlockKind,
    ExtractedDocument,
    Skipped,
)
from cogni_domain.knowledge.source import ChangeEvent, SourceDocument, SourcePage
from cogni_domain.ports.connector import ConnectorPort
from cogni_domain.ports.embedder import EmbedderPort, Vectors
from cogni_domain.ports.extractor import ExtractorPort
from cogni_kernel import Err, HumanText, NotFoundError, Ok, Result
from cogni_testing.doubles import START
from cogni_testing.histories.company import Company


class Wiki(ConnectorPort):
    """Lists the company's pages, each with the rule of all its layers."""

    def __init__(self, company: Company) -> None:
        self._company = company

    @property
    def id(self) -> str:
        return "wiki"

    def listed(self, name: str) -> SourceDocument:
        page = self._company.pages[name]
        return SourceDocument(name, name, self._rule(name), str(page.revision), START)

    def _rule(self, name: str) -> AccessRule | Unmappable:
        line = self._company.line(name)
        if any(layer.unclear for layer in line):
            return Unmappable("Its restrictions cannot be read.")
        readers = self._company.spaces[line[0].space]
        rule = AccessRule.everyone() if readers is None else AccessRule.any_of(*readers)
        for layer in line:
            if layer.only is not None:
                rule = rule.restricted_to(*layer.only)
            rule = rule.except_for(*layer.never)
        return rule

    async def enumerate(self, cursor: str | None) -> Result[SourcePage]:
        return Ok(SourcePage([self.listed(name) for name in sorted(self._company.pages)], None))

    async def extract(self, document: SourceDocument) -> Result[ExtractedDocument | Skipped]:
        page = self._company.pages.get(document.source_id)
        if page is None:
            return Err(NotFoundError(HumanText("It is gone.")))
        name, data = f"{document.name}.txt", page.text.encode()
        attached = (Attachment(name, data),) if page.attached else ()
        return Ok(_extracted(document.name, page.text, attached))

    async def changes(self) -> AsyncIterator[ChangeEvent]:
        nothing: tuple[ChangeEvent, ...] = ()
        for event in nothing:
            yield event


class Plain(ExtractorPort):
    """Reads a file as it is."""

    async def extract(self, name: str, data: bytes) -> ExtractedDocument | Skipped:
        return _extracted(name, data.decode())


def _extracted(name: str, text: str, attached: tuple[Attachment, ...] = ()) -> ExtractedDocument:
    return ExtractedDocument(name, (Block(BlockKind.PARAGRAPH, text),), "text/plain", attached)


class Same(EmbedderPort):
    """Every text is as near as any other: only permissions tell them apart."""

    @property
    def dimension(self) -> int:
        return 2

    @property
    def version(self) -> str:
        return "same@1"

    async def embed(self, texts: Sequence[str]) -> Result[Vectors]:
        return Ok(np.tile(np.array([[1.0, 0.0]], np.float32), (len(texts), 1)))
