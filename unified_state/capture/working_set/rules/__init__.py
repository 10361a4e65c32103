"""Pure rules of the working set."""
