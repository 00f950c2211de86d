"""Every table, so that `METADATA` is whole once this package is imported."""

from cogni_adapters.database.tables import directory, knowledge, runs, work

__all__ = ["directory", "knowledge", "runs", "work"]
