"""The context window: how full it is, and what keeps it lean."""
