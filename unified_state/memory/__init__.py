"""Stored memory: the archive, the ledger of items, the working set, the state file, the portable history."""
