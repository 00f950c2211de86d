"""A cross-encoder behind the rerank call that inference servers share."""
