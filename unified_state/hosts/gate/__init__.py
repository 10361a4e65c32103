"""Which sessions need no addition to their next prompt."""
