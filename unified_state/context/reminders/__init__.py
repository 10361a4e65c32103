"""Reminders before tool calls: a table of the facts that are about commands and files, and the hook that reads it."""
