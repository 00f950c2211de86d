"""Streaming: phases, deltas and the emitter."""
