"""A small sentence model on the processor: embeddings, and a closer look at a few passages."""
