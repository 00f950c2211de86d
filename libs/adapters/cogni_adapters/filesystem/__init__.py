"""Folders of files as a source of documents."""
