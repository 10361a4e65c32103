"""Search by meaning: vectors of steps."""
