"""From a source to both indexes."""
