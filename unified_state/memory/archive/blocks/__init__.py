"""Texts of several steps in one compressed stream."""
