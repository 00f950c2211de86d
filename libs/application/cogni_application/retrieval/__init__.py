"""Question in, permitted passages out."""
