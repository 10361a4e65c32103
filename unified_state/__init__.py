"""unified-state: the working memory of a coding agent that survives compaction."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from unified_state.context.messages.message_archive import MessageArchive
    from unified_state.context.messages.prune_messages import prune_messages
    from unified_state.extras.agent_sdk.agent_memory import AgentMemory
    from unified_state.lib.package import __version__
    from unified_state.model.item import Attempt, Constraint, Decision, Evidence, OpenQuestion
    from unified_state.model.session_state import State
    from unified_state.model.step import Hit
    from unified_state.state_file.manager import UnifiedStateManager

_MODULES = {
    "AgentMemory": "unified_state.extras.agent_sdk.agent_memory",
    "Attempt": "unified_state.model.item",
    "Constraint": "unified_state.model.item",
    "Decision": "unified_state.model.item",
    "Evidence": "unified_state.model.item",
    "Hit": "unified_state.model.step",
    "MessageArchive": "unified_state.context.messages.message_archive",
    "OpenQuestion": "unified_state.model.item",
    "State": "unified_state.model.session_state",
    "UnifiedStateManager": "unified_state.state_file.manager",
    "__version__": "unified_state.lib.package",
    "prune_messages": "unified_state.context.messages.prune_messages",
}
__all__ = [
    "AgentMemory",
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


def __getattr__(name: str) -> object:
    """Load a public name when it is first used: the hooks import this package on every prompt."""
    if name not in _MODULES:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    from importlib import import_module

    return getattr(import_module(_MODULES[name]), name)
