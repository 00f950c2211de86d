"""The process that tells endpoints outside what happened."""
