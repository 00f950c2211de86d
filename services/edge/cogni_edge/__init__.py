"""The HTTP rim: tokens in, numbered deltas out. It decodes, calls the application and encodes; it decides nothing."""
