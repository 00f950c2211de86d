"""Nearest neighbours in Qdrant."""
