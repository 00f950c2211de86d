"""Telling others what happened: relaying, fanning out, delivering, and deciding who is told."""
