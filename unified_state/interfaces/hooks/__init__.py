"""Handlers of hook events, one for each event."""
