"""The formats of other programs, a module each; `import_formats` says what it has."""

from __future__ import annotations

# In the order in which they are tried: Codex's `MEMORY.md` before Claude Code's of that name.
_NAMES = (
    *("specstory", "aider", "codex_memory", "mempalace", "basic_memory", "claude_memory"),
    *("beads", "copilot_cli", "cline", "claude_flow_json", "claude_flow", "claude_mem"),
)
FORMATS = tuple(f"{__name__}.{name}" for name in _NAMES)
PAGES = {"bring-your-history.md": "Import history of other programs, machines and people"}
