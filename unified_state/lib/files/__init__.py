"""Files: atomic writes, locks, edits that keep every other byte."""
