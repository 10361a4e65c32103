"""Restore: what a session is given back, within the client's limits."""
