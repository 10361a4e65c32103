"""unified-state: the working memory of a coding agent that survives compaction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from unified_state.context.message_archive import MessageArchive
    from unified_state.context.prune_messages import prune_messages
    from unified_state.lib.package import __version__
    from unified_state.model.item import Attempt, Constraint, Decision, Evidence, OpenQuestion
    from unified_state.model.session_state import State
    from unified_state.model.step import Hit
    from unified_state.state_file.manager import UnifiedStateManager

_MODULES = {
    "Attempt": "unified_state.model.item",
    "Constraint": "unified_state.model.item",
    "Decision": "unified_state.model.item",
    "Evidence": "unified_state.model.item",
    "Hit": "unified_state.model.step",
    "MessageArchive": "unified_state.context.message_archive",
    "OpenQuestion": "unified_state.model.item",
    "State": "unified_state.model.session_state",
    "UnifiedStateManager": "unified_state.state_file.manager",
    "__version__": "unified_state.lib.package",
    "prune_messages": "unified_state.context.prune_messages",
}
__all__ = [
    "Attempt",
    "Constraint",
    "Decision",
    "Evidence",
    "Hit",
    "MessageArchive",
    "OpenQuestion",
    "State",
    "UnifiedStateManager",
    "__version__",
    "prune_messages",
]


def __getattr__(name: str) -> Any:
    """Load a public name when it is first used: the hooks import this package on every prompt."""
    from importlib import import_module

    if name in _MODULES:
        return getattr(import_module(_MODULES[name]), name)
    if name == "AgentMemory":
        from unified_state.extension import need

        return need("AGENT_MEMORY")
    message = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(message)
