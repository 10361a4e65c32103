"""How a long output is shortened."""
