"""How we keep: atomic files, the state file, the archive with its ledger."""
