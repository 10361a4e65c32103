"""unified-state: the working memory of a coding agent that survives compaction."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.services.manager import UnifiedStateManager

__version__ = "0.1.0"
__all__ = ["UnifiedStateManager", "__version__"]


def __getattr__(name: str) -> object:
    """Public names load when they are first used: the hooks import this package on every prompt."""
    if name == "UnifiedStateManager":
        from unified_state.services.manager import UnifiedStateManager

        return UnifiedStateManager
    message = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(message)
