"""A person decides; what was accepted runs once."""
