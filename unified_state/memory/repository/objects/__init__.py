"""Commits and their ancestors, read from the files of `.git` without starting git."""
