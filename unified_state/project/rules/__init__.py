"""Pure rules of the repository."""
