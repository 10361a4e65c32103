"""The calls of hooks: one handler an event."""
