"""Hand-over: the state and the open work in one file, for another person or agent, and how it is taken in."""

from __future__ import annotations

_ABOUT = "give the state and the open work to another person or agent, or take them"
_VERBS = f"{__name__}.handover_command:COMMANDS"
COMMANDS = {"handover": ("Data", _VERBS, _ABOUT)}
EXAMPLES = {
    "handover create": "unified-state handover create --for codex work.jsonl",
    "handover take": "unified-state handover take work.jsonl",
}
PAGES = {"hand-over-work.md": "Hand over work to another person or agent"}
