"""A real DokuWiki keeps the connectors' contract, and its access list means what the mapping says."""

from collections.abc import Mapping

import pytest

from cogni_adapters.rest.client import RestClient
from cogni_adapters.wiki.dokuwiki import AclFile, DokuWikiConnectorAdapter
from cogni_adapters.wiki.xml_rpc import DokuWikiCalls
from cogni_testing.contracts.connector import ConnectorContract
from tests.servers.dokuwiki import CRAWLER, DokuWiki


def connector(wiki: DokuWiki) -> DokuWikiConnectorAdapter:
    client = RestClient(wiki.url, auth=(CRAWLER, CRAWLER), pace_s=0)
    calls = DokuWikiCalls(client)
    return DokuWikiConnectorAdapter(
        "wiki.acme.example", calls, AclFile(wiki.acl), page_size=10, pause_s=0.05
    )


class TestDokuWikiConnector(ConnectorContract):
    @pytest.fixture(autouse=True)
    def an_empty_wiki(self, wiki: DokuWiki) -> None:
        self.wiki = wiki

    def make_connector(self, texts: Mapping[str, str]) -> DokuWikiConnectorAdapter:
        for name, text in texts.items():
            self.write(name, text)
        return self.reopen()

    def reopen(self) -> DokuWikiConnectorAdapter:
        return connector(self.wiki)

    def write(self, name: str, text: str) -> None:
        self.wiki.put(name, text)

    def remove(self, name: str) -> None:
        self.wiki.put(name, "")
