"""What of the state survives in a summary: statements, their terms, and whether two of them say the same."""
