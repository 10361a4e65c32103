"""Rules that match tool calls against constraints."""
