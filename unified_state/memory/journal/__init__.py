"""The journal: a history as JSON lines that stands in where no archive can be used, and merges back."""
