"""Which sessions have nothing to be told with their next prompt."""
