"""The writer: what is recorded enters the ledger, and the state file of each worktree follows."""
