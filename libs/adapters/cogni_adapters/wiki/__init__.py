"""Wikis as sources of documents: DokuWiki and Confluence."""
