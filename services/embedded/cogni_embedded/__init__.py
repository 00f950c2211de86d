"""The whole product in one process, and the `cogni` command."""
