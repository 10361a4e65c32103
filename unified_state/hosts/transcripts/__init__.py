"""Transcript readers, one for each host."""
