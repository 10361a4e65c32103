"""Kinds of tool output: one a file."""
