"""Restore: the recorded facts that a session gets back, within the client's limits."""
