"""Forget, prune and scan: remove content from every file at the user's request."""
