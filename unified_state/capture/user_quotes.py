"""Items that a model records and may quote the user for: the quote is checked, and the item is whose word it is."""

from __future__ import annotations

from unified_state.lib.clock import current_time
from unified_state.memory.manager.state_writer import StateWriter
from unified_state.model.item import MAIN_FIELDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from unified_state.memory.workspace.workspace import Workspace
    from unified_state.model.item import Entry


def record_quoted(
    workspace: Workspace, kind: str, body: dict[str, Any], quote: str | None, *, supersedes: str | None = None
) -> Entry:
    """Record an item; it is `user_said` where the user said the quote and that says the item. Where not, the
    workspace's `advise` is told why.
    """
    source = None
    if quote is not None:
        from unified_state.capture.user_words import check_quote  # reads transcripts; most items quote nobody

        checked = check_quote(workspace, quote, str(body[MAIN_FIELDS[kind]]), current_time())
        source = checked.source
        if checked.problem is not None:
            workspace.advise(checked.problem)
    return StateWriter(workspace).add(kind, body, supersedes=supersedes, source=source)
