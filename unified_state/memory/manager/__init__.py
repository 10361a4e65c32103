"""UnifiedStateManager: items are recorded, and each worktree's state file follows."""
