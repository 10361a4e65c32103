"""unified-state: the working memory of a coding agent that survives compaction."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.context.messages.message_archive import MessageArchive
    from unified_state.context.messages.prune_messages import prune_messages
    from unified_state.interfaces.agent_sdk.agent_memory import AgentMemory
    from unified_state.lib.package import __version__
    from unified_state.memory.manager import UnifiedStateManager

__all__ = ["AgentMemory", "MessageArchive", "UnifiedStateManager", "__version__", "prune_messages"]


def __getattr__(name: str) -> object:
    """Public names load when they are first used: the hooks import this package on every prompt."""
    if name == "UnifiedStateManager":
        from unified_state.memory.manager import UnifiedStateManager

        return UnifiedStateManager
    if name == "__version__":
        from unified_state.lib.package import __version__

        return __version__
    if name == "MessageArchive":
        from unified_state.context.messages.message_archive import MessageArchive

        return MessageArchive
    if name == "AgentMemory":
        from unified_state.interfaces.agent_sdk.agent_memory import AgentMemory

        return AgentMemory
    if name == "prune_messages":
        from unified_state.context.messages.prune_messages import prune_messages

        return prune_messages
    message = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(message)
