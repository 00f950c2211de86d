"""The tool contract: what an author declares and what the loop relies on."""
