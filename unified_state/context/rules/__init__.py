"""Pure rules of the context window."""
