"""The ledger at an earlier time: what held then, what changed between two times, and all that became of an item."""
