"""Search by meaning: vectors of steps."""

from __future__ import annotations

_VERBS = f"{__name__}.embed_command:COMMANDS"
COMMANDS = {"embed": ("Data", _VERBS, "make vectors of what steps mean, for searches by meaning")}
CHECKS = f"{__name__}.check_vectors:checks"
OPEN_READER = f"{__name__}.query_meaning:open_reader"
PAGES = {"search-by-meaning.md": "Search by meaning"}
