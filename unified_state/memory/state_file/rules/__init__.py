"""Pure rules of the state file: budget, entries, reading."""
