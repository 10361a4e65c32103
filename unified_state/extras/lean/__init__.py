"""Lean context: the model reads long tool outputs in a short form, and the whole output is archived."""
