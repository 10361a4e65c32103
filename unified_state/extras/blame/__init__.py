"""Which turn wrote a line: git's commits joined with the edits in the archive."""
