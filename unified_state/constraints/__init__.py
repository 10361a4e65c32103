"""Constraints that hold: a table that the hook before each tool call reads."""
