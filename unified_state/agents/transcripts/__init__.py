"""Transcripts: one reader a host."""
