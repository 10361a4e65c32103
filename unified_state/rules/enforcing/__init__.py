"""How an executable constraint is matched against a tool call."""
