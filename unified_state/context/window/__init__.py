"""How full the context is, and when the client compacts it."""
