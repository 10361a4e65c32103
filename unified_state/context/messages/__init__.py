"""Conversations of the Messages API: cut old texts, archive them whole."""
