"""Pure rules of the portable history."""
