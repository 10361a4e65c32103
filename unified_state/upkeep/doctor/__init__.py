"""Doctor and status: what is in place, what is wrong, what to do."""
