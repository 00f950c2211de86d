"""Every table, so that `METADATA` is whole once this package is imported."""

from cogni_adapters.database.tables import directory, events, knowledge, runs, work

__all__ = ["directory", "events", "knowledge", "runs", "work"]
