"""Pure rules of the ledger: who binds, what contradicts, how items read."""
