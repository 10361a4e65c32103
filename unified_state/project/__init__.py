"""The repository and worktree of a folder, and their git state."""
