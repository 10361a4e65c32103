"""Which constraints a tool call is about."""
