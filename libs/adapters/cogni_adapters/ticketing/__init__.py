"""Ticketing systems as sources of documents: Jira and Redmine. A comment is a document of its own."""
