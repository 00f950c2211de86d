"""Every port in one process's memory: exact, deterministic, gone when the process ends."""
