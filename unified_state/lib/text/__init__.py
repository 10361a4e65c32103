"""Texts: truncate, count, quote, compress, page."""
