"""Pure rules of conversations of the Messages API."""
