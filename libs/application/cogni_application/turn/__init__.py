"""One turn: from a question to its sealed outcome."""
