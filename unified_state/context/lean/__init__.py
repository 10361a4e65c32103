"""Lean context: long tool outputs reach the model in a short form, the whole is archived."""
