"""Documents, passages, and how a question finds them."""
