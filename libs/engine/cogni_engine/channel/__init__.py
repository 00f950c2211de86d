"""Server-driven widgets: a payload goes to the surface, a marker to the model."""
