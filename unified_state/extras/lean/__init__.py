"""Lean context: the model reads long tool outputs in a short form, and the whole output is archived."""

from __future__ import annotations

SHORTEN_OUTPUT = f"{__name__}.long_output:shorten_output"
SHORT_FORM = f"{__name__}.rules.shorten:shorten"
PAGES = {
    "keep-the-context-lean.md": "Keep the context lean: shorten long tool outputs",
    "lean-context.md": "What lean context does",
}
