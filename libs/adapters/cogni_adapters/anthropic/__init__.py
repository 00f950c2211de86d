"""Language models behind Anthropic's API."""
