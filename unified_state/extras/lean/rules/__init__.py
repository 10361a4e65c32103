"""The rules that shorten a long output."""
