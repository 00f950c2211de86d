"""The composition root: container, bindings and the chain that every call passes."""
