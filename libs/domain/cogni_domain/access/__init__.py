"""Who asks, what that person may read, and which tools are offered."""
