"""Keyword search in process, by Tantivy."""
