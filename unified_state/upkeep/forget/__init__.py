"""Forget, prune and scan: what the user wants gone leaves every file."""
