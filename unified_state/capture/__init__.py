"""Capture: what is new in a transcript enters the archive, and what it shows enters the ledger."""
