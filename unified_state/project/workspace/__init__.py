"""A workspace: one folder with its settings, archive and session, opened for a use case."""
