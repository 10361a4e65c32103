"""Hand-over: the state and the open work in one file, for another person or agent, and how it is taken in."""

from __future__ import annotations

_ABOUT = "give the state and the open work to another person or agent, or take them"
COMMANDS = {"handover": ("Data", f"{__name__}.handover_command", _ABOUT)}
EXAMPLES = {
    "handover create": "unified-state handover create --for codex work.jsonl",
    "handover take": "unified-state handover take work.jsonl",
}
