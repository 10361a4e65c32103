"""Which repository and worktree this is, and what git says about it."""
