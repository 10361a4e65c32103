"""Audit: what has gone bad in the ledger and in the memory files beside it, and the commands that mend it."""
