"""Upkeep: forget and prune, import and export, doctor."""
