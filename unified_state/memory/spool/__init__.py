"""Prompts that their hook only kept, until a process that opens the archive takes them over."""
