"""Enforced constraints: a table of them, and the hook that checks each tool call against it."""
