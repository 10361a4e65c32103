"""Pure rules of the archive."""
