"""Which turn wrote a line: git's commits joined with the edits in the archive."""

from __future__ import annotations

_VERBS = f"{__name__}.blame_command:COMMANDS"
COMMANDS = {"blame": ("Everyday", _VERBS, "which turn and which commit wrote a line, and why")}
EXAMPLES = {"blame": "unified-state blame src/limiter.py:10-20"}
TURNS_THAT_WROTE = f"{__name__}.blame_lines:turns_that_wrote"
TOOLS = f"{__name__}.blame_tools:BlameTools"
PAGES = {"ask-who-wrote-a-line.md": "Ask who wrote a line, and why"}
