"""The writer: records items in the ledger and updates the state file of each worktree."""
