"""Language models behind OpenAI's API, or any server that speaks it."""
