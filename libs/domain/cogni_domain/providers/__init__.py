"""What every provider of models has in common, in no vendor's words."""
